#include "sim/compute/exchange_format.h"

namespace slmsim {
namespace {

double bits_of(ExchangeFormat format) {
  switch (format) {
    case ExchangeFormat::kFp32:
      return 32;
    case ExchangeFormat::kBf16:
    case ExchangeFormat::kFp16:
      return 16;
    case ExchangeFormat::kFp8:
    case ExchangeFormat::kInt8:
      return 8;
    case ExchangeFormat::kInt4:
      return 4;
  }
  return 0;
}

constexpr double kFp32Bytes = 4;

}  // namespace

const std::vector<std::string>& exchange_format_names() {
  static const std::vector<std::string> kNames = {"fp32", "bf16", "fp16", "fp8", "int8", "int4"};
  return kNames;
}

bool adds_up(ExchangeFormat format) { return bits_of(format) >= 16; }

Bytes wire_bytes(ExchangeFormat format, double numbers) {
  return Bytes{numbers * (bits_of(format) / 8 + (adds_up(format) ? 0.0 : kFp32Bytes / kScaleBlock))};
}

Seconds elementwise_time(Bytes moved, const Gpu& gpu, const Software& software) {
  return moved / (gpu.bandwidth() * software.memory) + software.launch;
}

Seconds encode_time(ExchangeFormat format, double numbers, const Gpu& gpu, const Software& software, double element) {
  if (format == ExchangeFormat::kFp32) return {};
  return elementwise_time(Bytes{numbers * element} + wire_bytes(format, numbers), gpu, software);
}

Seconds decode_time(ExchangeFormat format, double numbers, const Gpu& gpu, const Software& software, double element) {
  return encode_time(format, numbers, gpu, software, element);
}

Seconds sum_time(ExchangeFormat format, double numbers, int ranks, const Gpu& gpu, const Software& software) {
  const double share = numbers / ranks;
  return elementwise_time(wire_bytes(format, share) * (ranks + 1.0), gpu, software);
}

}  // namespace slmsim
