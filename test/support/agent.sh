#!/usr/bin/env bash
# A coding agent's loop without a model: edits, builds, tests and commits in a clone of this repository, and asks for
# checkpoints. Arguments: seconds to think between two steps, steps between two checkpoints, then how dropcloth is called.
# Between two steps it takes one word: `hold` lets it stand still until `go`, as a person does who restores under it.
set -uo pipefail
think=$1 every=$2
shift 2
export GIT_AUTHOR_NAME=agent GIT_AUTHOR_EMAIL=agent@example.org GIT_COMMITTER_NAME=agent GIT_COMMITTER_EMAIL=agent@example.org

fail() {
	echo "FAULT: $*"
	exit 1
}

# What a git that was killed in the middle leaves, and every agent has to deal with.
tidy() {
	find .git -name '*.lock' -delete
	git rebase --abort >/dev/null 2>&1 || true
	git checkout -q -f -B work || fail "checkout at step $n"
}

edit() {
	mkdir -p state && echo "$n" >state/a
	printf 'export const step = %d;\n' "$n" >"src/agent-$n.ts"
	rm -f "src/agent-$((n - 20)).ts"
	echo "step $n" >>README.md
	sed -i "1s/.*/# Security, step $n/" SECURITY.md
	[ $((n % 17)) -ne 0 ] || git mv docs/testing.md docs/tested.md 2>/dev/null || git mv docs/tested.md docs/testing.md
	mkdir -p "tmp/$n" && ln -s ../../README.md "tmp/$n/link" && ln README.md "tmp/$n/hard" && rm -rf "tmp/$((n - 3))"
	echo "$n" >state/b
}

check() {
	node --check tools/bundle.mjs || fail 'a source is no source'
	node -e 'const { readFileSync } = require("node:fs");
		const read = (name) => readFileSync(`state/${name}`, "utf8");
		if (read("a") !== read("b")) throw new Error(`${read("a")} and ${read("b")}`);' || fail "test at step $n"
	[ $((n % 25)) -ne 0 ] || node tools/bundle.mjs || fail "build at step $n"
}

commit() {
	git add -A && git commit -qm "agent: step $n" || fail "commit of step $n"
	if [ $((n % 6)) -eq 0 ]; then
		git checkout -qB "topic-$n" && echo "$n" >topic && git add topic && git commit -qm "topic $n" &&
			git checkout -q work && git merge -q --no-ff -m "merge topic $n" "topic-$n" && git branch -qD "topic-$n" ||
			fail "merge at step $n"
	fi
	if [ $((n % 11)) -eq 0 ]; then
		echo more >>README.md && git stash -q && git stash pop -q || fail "stash at step $n"
	fi
	[ $((n % 60)) -ne 0 ] || git gc -q || fail "gc at step $n"
}

n=0
tidy
while :; do
	n=$(($(cat state/a 2>/dev/null || echo 0) + 1))
	edit
	check
	commit
	[ $((n % every)) -ne 0 ] || "$@" checkpoint "$n $(git rev-parse HEAD)" || echo "no checkpoint at step $n"
	echo "step $n"
	word=
	if [ "$think" != 0 ]; then read -rt "$think" word; elif read -rt 0; then read -r word; fi
	[ "$word" = hold ] || continue
	echo "held at $n"
	until [ "$word" = go ]; do read -r word || exit; done
	echo "went on at $(git rev-parse HEAD) with $(cat state/a 2>/dev/null) and $(cat state/b 2>/dev/null)."
	tidy
done
