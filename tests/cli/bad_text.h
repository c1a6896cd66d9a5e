// Files that are no YAML map, or not one document, or whose bases lead nowhere.
#pragma once

#include "tests/cli/bad_case.h"

namespace slmsim {

inline std::vector<BadCase> bad_text_cases() {
  const std::string yaml = "not valid YAML: ";
  const std::string map_expected = "a map of keys and values is expected";
  const std::string twice = "the first one is in line 2";
  const std::string ring = "extends itself; a base must not lead back to it";
  return {
      {"run", "empty.yaml", {{"1:1", "the file is empty; a YAML map is expected"}}, ""},
      {"check", "empty.yaml", {{"1:1", "the file is empty; a YAML map is expected"}}, ""},
      {"run", "only-comments.yaml", {{"1:1", "the file is empty; a YAML map is expected"}}, ""},
      {"run", "null-file.yaml", {{"*", "the file is nothing; " + map_expected}}, ""},
      {"run", "scalar-file.yaml", {{"1:1", "the file is a single value; " + map_expected}}, ""},
      {"check", "scalar-file.yaml", {{"1:1", "the file is a single value; " + map_expected}}, ""},
      {"run", "list-file.yaml", {{"1:1", "the file is a list; " + map_expected}}, ""},
      {"run", "two-documents.yaml", {{"3:1", "a second YAML document; one file holds one"}}, ""},
      {"run", "tab-indent.yaml", {{"2:1", "a tab in the indentation; YAML allows only spaces there"}}, ""},
      {"run", "duplicate-key.yaml", {{"3:1", "duplicate key \"name\"; " + twice}}, ""},
      {"run", "duplicate-key-deep.yaml", {{"2:33", "duplicate key \"batch\"; " + twice}}, ""},
      {"run", "merge-key.yaml", {{"3:3", "merge keys (<<) are not supported; use \"extends: FILE\""}}, ""},
      {"run", "map-as-key.yaml", {{"2:3", "a map or list used as a key; keys are plain names"}}, ""},
      {"run", "null-key.yaml", {{"2:1", "a key that is not a plain name"}}, ""},
      // Where the list ends, or where it begins: both tell.
      {"run", "unclosed-list.yaml", {{"*", yaml}}, ""},
      {"run", "unclosed-quote.yaml", {{"*", yaml}}, ""},
      {"check", "unclosed.json", {{"2:21", "not valid YAML: the { of line 1 is not closed before here"}}, ""},
      {"check", "missing-comma.json", {{"1:25", yaml}}, ""},
      {"run", "alias-unknown.yaml", {{"2:7", yaml + "the referenced anchor is not defined"}}, ""},
      {"run", "self-anchor.yaml", {{"2:22", "a value cannot contain itself"}}, ""},
      {"run", "reserved-character.yaml", {{"2:7", yaml + "unknown token"}}, ""},
      {"run", "colon-in-value.yaml", {{"2:8", yaml + "illegal map value"}}, ""},

      {"run", "ring-of-one.yaml", {{"1:10", ring}}, ""},
      {"run", "ring-of-two-a.yaml", {{"2:10", ring}}, "ring-of-two-b.yaml"},
      {"run", "ring-of-two-b.yaml", {{"1:10", ring}}, "ring-of-two-a.yaml"},
      {"run", "ring-of-three-a.yaml", {{"3:10", ring}}, "ring-of-three-c.yaml"},
      {"run", "ring-of-three-b.yaml", {{"1:10", ring}}, "ring-of-three-a.yaml"},
      {"check", "ring-of-three-c.yaml", {{"1:10", ring}}, "ring-of-three-b.yaml"},
      {"run", "extends-missing.yaml", {{"2:10", "there is no file \"no-such-base.yaml\" to extend"}}, ""},
      {"run", "extends-list.yaml", {{"1:10", "extends is a list; one file's path is expected"}}, ""},
      {"run", "extends-folder.yaml", {{"2:10", "regular file"}}, ""},
      {"run", "extends-nothing.yaml", {{"2:10", ""}}, ""},
      {"run", "extends-long-name.yaml", {{"2:10", "extend"}}, ""},
  };
}

}  // namespace slmsim
