#!/usr/bin/env bash
# List the commits between two points of a git repository, grouped by their conventional prefix.
#
# usage: list_changes.sh [FROM [TO]]     default: the last tag, and HEAD
set -euo pipefail

if [ $# -gt 2 ]; then
  echo "usage: list_changes.sh [FROM [TO]]" >&2
  exit 2
fi
to=${2:-HEAD}
# Without a tag, everything that leads to TO is new.
from=${1:-$(git describe --tags --abbrev=0 "$to" 2>/dev/null || true)}
range=${from:+$from..}$to

log=$(git log --no-merges --reverse --format='%h %s' "$range" --)
echo "# Changes in $range"

# A group's pattern matches the subject after the abbreviated hash.
group() {
  local lines
  if lines=$(grep -E "$2" <<<"$log"); then
    printf '\n## %s\n%s\n' "$1" "$lines"
  fi
}
breaking='^[0-9a-f]+ [a-z]+(\([^)]*\))?!:'
plain() { echo "^[0-9a-f]+ ($1)(\([^)]*\))?:"; }
group 'Breaking' "$breaking"
group 'New' "$(plain 'feat')"
group 'Fixed' "$(plain 'fix|perf|security')"
group 'Inside' "$(plain 'build|chore|ci|docs|refactor|style|test')"
if rest=$(grep -Ev "$breaking|$(plain 'feat|fix|perf|security|build|chore|ci|docs|refactor|style|test')" <<<"$log" | grep .); then
  printf '\n## Without a prefix\n%s\n' "$rest"
fi
