# shellcheck shell=bash
# Functions that list the files of a change; to be sourced.

# change_base [COMMIT]: COMMIT, or where this branch left origin/main, or, on origin/main, the commit before.
change_base() {
  local base=${1:-$(git merge-base HEAD origin/main 2>/dev/null || true)}
  if [[ -z $base || $base == "$(git rev-parse HEAD)" ]]; then base=HEAD~1; fi
  git rev-parse --verify --quiet "$base^{commit}" ||
    { echo "error: there is no commit $base to compare with: the checkout is too shallow" >&2; exit 2; }
}

# changed_since COMMIT PATH...: files that are new or differ from COMMIT.
changed_since() {
  local base=$1
  shift
  git diff --name-only --diff-filter=d "$base" -- "$@"
  git ls-files --others --exclude-standard "$@"
}
