#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/quantity.h"
#include "sim/compute/transformer.h"

namespace slmsim {
namespace {

constexpr std::int64_t kLongestWindow = std::numeric_limits<std::int32_t>::max();

bool is_true(const Node& config, const char* key) {
  const Node* found = config.find(key);
  return found && found->scalar == "true";
}

void refuse_window(const Node& config, const FamilyRow& row, const Transformer& model, Fields& fields) {
  if (!row.has_window) return;
  const bool used =
      !row.window_if_asked ||
      fields.flag({"use_sliding_window", "Whether attention looks back over sliding_window only."}, false);
  const Node* stated = config.find("sliding_window");
  const bool none = stated && stated->kind == Node::Kind::kNull;
  const std::int64_t window = fields.integer(
      {"sliding_window", "Maximum number of tokens that attention looks back over; not modelled for longer sequences.",
       "that of the family's first model"},
      {1, kLongestWindow}, row.sliding_window > 0 ? row.sliding_window : kLongestWindow);
  if (!used || none || window >= model.sequence || fields.describing()) return;
  fields.error("sliding_window", fmt::format("attention over a sliding window of {} tokens is not modelled for "
                                             "sequences of {}; train on sequences of at most {}",
                                             window, model.sequence, window));
}

}  // namespace

void refuse_unmodelled(const Node& config, Fields& fields) {
  const Node* type = config.find("model_type");
  if (!type || type->kind != Node::Kind::kScalar) return;
  const auto& names = family_names();
  const bool known = std::find(names.begin(), names.end(), type->scalar) != names.end();
  // An unknown family is refused by the choice of `family`.
  std::string why = known ? "" : why_not_modelled(type->scalar);
  for (const char* key : {"num_local_experts", "num_experts", "n_routed_experts"}) {
    const Node* experts = config.find(key);
    if (known && experts && parse_number(experts->scalar).value_or(0) > 1)
      why = fmt::format("a mixture of experts by its {}", key);
  }
  if (known && is_true(config, "is_encoder_decoder")) why = "an encoder with a decoder by its is_encoder_decoder";
  if (!why.empty())
    fields.error("model_type", fmt::format("model_type: \"{}\" is {}, which is not modelled; decoders are: {}",
                                           type->scalar, why, fmt::join(names, ", ")));
}

void read_hugging_face(const Node& config, const FamilyRow& row, const Transformer& model, Fields& fields) {
  refuse_window(config, row, model, fields);
  if (model.family != Family::kOpt) return;
  // OPT-350M only.
  const bool before = fields.flag({"do_layer_norm_before", "Whether norms come before attention and MLP."}, true);
  if (!before && !fields.describing())
    fields.error("do_layer_norm_before", "norms after attention and MLP are not modelled");
  const auto width = fields.integer({"word_embed_proj_dim", "The width of the embedding.", "the hidden size"},
                                    {1, 1 << 17}, model.hidden);
  if (before && width != model.hidden && !fields.describing())
    fields.error("word_embed_proj_dim",
                 fmt::format("an embedding width other than the hidden size {} is not modelled", model.hidden));
}

}  // namespace slmsim
