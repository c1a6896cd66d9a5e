#include "sim/serve/message.h"

#include "tests/serve/world.h"

namespace slmsim::web::guard_test {
namespace {

int status_of(const Request& request) {
  const auto refused = check(own_guard(), request);
  return refused ? refused->status : 200;
}

Request with(Request request, const std::string& name, const std::string& value) {
  request.headers[name] = value;
  return request;
}

Request without(Request request, const std::string& name) {
  request.headers.erase(name);
  return request;
}

TEST(Guard, LetsItsOwnPageAsk) {
  EXPECT_EQ(status_of(get("/")), 200);
  EXPECT_EQ(status_of(post("/api/view", {})), 200);
  EXPECT_EQ(status_of(with(get("/"), "host", "localhost:8765")), 200);
}

// A name that a stranger made to lead to 127.0.0.1 stands in Host.
TEST(Guard, RefusesOtherHosts) {
  for (const char* host :
       {"", "evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8765.evil.example"})
    EXPECT_EQ(status_of(with(get("/"), "host", host)), 403) << host;
  EXPECT_EQ(status_of(without(get("/"), "host")), 403);
}

TEST(Guard, RefusesOtherOrigins) {
  for (const char* origin : {"null", "http://evil.example", "https://127.0.0.1:8765",
                             "http://127.0.0.1:8765.evil.example", "http://127.0.0.1", "file://"})
    EXPECT_EQ(status_of(with(post("/api/view", {}), "origin", origin)), 403) << origin;
  for (const char* from : {"cross-site", "same-site"})
    EXPECT_EQ(status_of(with(post("/api/view", {}), "sec-fetch-site", from)), 403) << from;
}

TEST(Guard, RefusesWhoDoesNotShowTheToken) {
  EXPECT_EQ(status_of(without(get("/main.js"), "cookie")), 401);
  for (const std::string& cookie : {std::string("slmsim-8765="), "slmsim-8765=" + kToken.substr(1),
                                    "slmsim-8765=" + kToken + "0", "slmsim-1=" + kToken, "xslmsim-8765=" + kToken})
    EXPECT_EQ(status_of(with(get("/main.js"), "cookie", cookie)), 401) << cookie;
  EXPECT_EQ(status_of(with(without(get("/"), "cookie"), "authorization", "Bearer " + kToken)), 200);
  // A wrong one beside a right cookie is no mistake of a browser's.
  EXPECT_EQ(status_of(with(get("/"), "authorization", "Bearer wrong")), 401);
}

TEST(Guard, TakesTheTokenFromTheAddressOnceAndOutOfIt) {
  Request entry = without(get("/"), "cookie");
  entry.headers["sec-fetch-site"] = "cross-site";  // a link in a terminal or in mail
  entry.query["token"] = kToken;
  const auto answer = check(own_guard(), entry);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 303);
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"Location", "/"}, {"Set-Cookie", "slmsim-8765=" + kToken + "; HttpOnly; SameSite=Strict; Path=/"}};
  EXPECT_EQ(answer->headers, expected);
  entry.query["token"] = "wrong";
  EXPECT_EQ(status_of(entry), 401);
}

TEST(Guard, TakesQuestionsAsJsonOnly) {
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""})
    EXPECT_EQ(status_of(with(post("/api/view", {}), "content-type", type)), 415) << type;
  EXPECT_EQ(status_of(without(post("/api/view", {}), "content-type")), 415);
}

TEST(Guard, TakesTwoMethodsOnly) {
  for (const char* method : {"PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"}) {
    Request request = get("/");
    request.method = method;
    EXPECT_EQ(status_of(request), 405) << method;
  }
}

TEST(Guard, DrawsTokensThatDiffer) {
  EXPECT_EQ(new_token().size(), 32);
  EXPECT_NE(new_token(), new_token());
}

}  // namespace
}  // namespace slmsim::web::guard_test
