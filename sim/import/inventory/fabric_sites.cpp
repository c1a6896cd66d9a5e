#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>

#include "sim/import/inventory/fablib.h"

namespace slmsim {
namespace {

struct City {
  const char* site;
  double north, east;  // degrees
};

// Cities of FABRIC's sites (portal.fabric-testbed.net, resources), to a tenth of a degree.
constexpr City kCities[] = {
    {"AMST", 52.4, 4.9},    {"ATLA", 33.8, -84.4},   {"BRIS", 51.5, -2.6},   {"CERN", 46.2, 6.1},
    {"CLEM", 34.7, -82.8},  {"DALL", 32.8, -96.8},   {"EDC", 40.1, -88.2},   {"EDUKY", 38.0, -84.5},
    {"FIU", 25.8, -80.4},   {"GATECH", 33.8, -84.4}, {"GAT", 33.8, -84.4},   {"GPN", 39.1, -94.6},
    {"HAWI", 21.3, -157.8}, {"INDI", 39.8, -86.2},   {"KANS", 39.1, -94.6},  {"LOSA", 34.1, -118.2},
    {"MASS", 42.2, -72.6},  {"MAX", 39.0, -76.9},    {"MICH", 42.3, -83.7},  {"NCSA", 40.1, -88.2},
    {"NEWY", 40.7, -74.0},  {"PRIN", 40.3, -74.7},   {"PSC", 40.4, -80.0},   {"RENC", 35.9, -79.0},
    {"RUTG", 40.5, -74.4},  {"SALT", 40.8, -111.9},  {"SEAT", 47.6, -122.3}, {"SRI", 37.5, -122.2},
    {"STAR", 41.9, -87.6},  {"TACC", 30.4, -97.7},   {"TOKY", 35.7, 139.7},  {"UCSD", 32.9, -117.2},
    {"UTAH", 40.8, -111.9}, {"WASH", 38.9, -77.0}};

const City* city_of(const std::string& site) {
  std::string name = site;
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const auto* at = std::ranges::find_if(kCities, [&](const City& c) { return name == c.site; });
  return at == std::end(kCities) ? nullptr : at;
}

}  // namespace

std::optional<Seconds> fabric_rtt(const std::string& site, const std::string& other) {
  const City *a = city_of(site), *b = city_of(other);
  if (!a || !b) return std::nullopt;
  constexpr double kRadian = std::numbers::pi / 180, kEarth = 6.371e6, kLightInFibre = 2e8, kDetour = 1.5;
  constexpr double kLeast = 0.5e-3;  // between two sites in one city
  const double p = a->north * kRadian, q = b->north * kRadian, turn = (a->east - b->east) * kRadian;
  const double cosine = std::sin(p) * std::sin(q) + std::cos(p) * std::cos(q) * std::cos(turn);
  const double way = kEarth * std::acos(std::clamp(cosine, -1.0, 1.0));
  return Seconds{std::max(kLeast, 2 * kDetour * way / kLightInFibre)};
}

}  // namespace slmsim
