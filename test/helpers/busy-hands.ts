/** Random work in a tree, as agents and people do it: a shell script in which no step stops the next. */

export interface Dice {
  readonly below: (count: number) => number
  readonly marker: () => string
}

/** A small generator of numbers, the same for the same seed (mulberry32). */
export function dice(seed: number): Dice {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }
  const below = (count: number): number => next() % count
  let markers = 0
  const marker = (): string =>
    `mark-${(seed >>> 0).toString(36).padStart(7, '0').slice(-7)}${(markers++).toString(36).padStart(5, '0')}`
  return { below, marker }
}

type Step = (m: () => string, n: number) => string

/** Each writes markers of its own where they must be found again. */
const STEPS: readonly Step[] = [
  (m) => `echo ${m()} >> a.txt`,
  (m) => `echo ${m()} > d/b.txt`,
  (m, n) => `echo ${m()} > new-${n}.txt`,
  (m, n) => `mkdir -p deep/er-${n} && echo ${m()} > deep/er-${n}/f`,
  (m, n) => `mkdir -p build && echo ${m()} > build/out-${n}.o`,
  (m) => `echo ${m()} > notes.log`,
  (m) => `echo ${m()} >> .env`,
  (m, n) => `mkdir -p gen && echo ${m()} > gen/own-${n}.c`,
  () => 'git mv c.txt moved.txt || mv c.txt moved-away.txt',
  () => 'rm -f d/b.txt',
  (_, n) => `chmod ${n % 2 === 0 ? '755' : '600'} a.txt`,
  (m, n) => `ln -s ${m()} link-${n}`,
  (m) => `mkfifo pipe-${m()}`,
  (m, n) => `echo ${m()} > "$(printf 'caf\\351-${n}')"`,
  (m, n) =>
    `mkdir nested-${n} && (cd nested-${n} && git init -q && echo ${m()} > in.txt && git add . && git commit -qm ${m()} && echo ${m()} > more.txt)`,
  (m, n) =>
    `git worktree add -q .trees-${n} -b w-${n} && (cd .trees-${n} && echo ${m()} > w.txt && git add . && git commit -qm ${m()})`,
  () => 'git add -A',
  (m) => `git commit -qam ${m()}`,
  (m) => `git add -A; git commit -qm ${m()}`,
  (m) => `echo ${m()} > one.txt; git add one.txt; git commit -qm ${m()}; git commit -q --amend -m ${m()}`,
  (m, n) =>
    `git checkout -qb b-${n}; echo ${m()} > on-branch-${n}.txt; git add .; git commit -qm ${m()}; git checkout -q -`,
  (m, n) => `git tag -a -m ${m()} t-${n}`,
  (m) => `echo ${m()} >> a.txt; git stash -q`,
  (m) => `echo ${m()} > for-stash.txt; git stash -q -u`,
  (m, n) =>
    `git checkout -qb r-${n}; echo ${m()} > d/b.txt; git commit -qam ${m()}; git checkout -q -; echo ${m()} > d/b.txt; git commit -qam ${m()}; git rebase -q r-${n}`,
  (m, n) =>
    `git checkout -qb m-${n}; echo ${m()} > a.txt; git commit -qam ${m()}; git checkout -q -; echo ${m()} > a.txt; git commit -qam ${m()}; git merge -q m-${n}`,
  (m) => `echo ${m()} > lost.txt; git add .; git commit -qm ${m()}; git reset -q --hard HEAD~1`,
  (m) => `echo ${m()} > soft.txt; git add .; git commit -qm ${m()}; git reset -q --soft HEAD~1`,
  (m) => `git config test.marker ${m()}`,
  (m) => `printf '#!/bin/sh\\n# ${m()}\\n' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout`,
  (m) => `git notes add -f -m ${m()}`,
  (m) => `git update-index --assume-unchanged a.txt; echo ${m()} >> a.txt`,
  (m) => `git update-index --skip-worktree d/b.txt; echo ${m()} >> d/b.txt`,
  (m) => `echo ${m()} > staged.txt; git add staged.txt; echo ${m()} > staged.txt`,
  () => 'git gc -q --prune=now',
  () => 'git repack -q -a -d',
  () => 'git checkout -q --detach',
  (m) => `(while :; do echo ${m()} >> background.txt; sleep 0.05; done) >/dev/null 2>&1 &`,
  (m, n) => `mkdir closed-${n}; echo ${m()} > closed-${n}/f; chmod 000 closed-${n}`,
  (m) => `head -c 300000 /dev/zero > large.bin; echo ${m()} >> large.bin`,
  (m) =>
    `git init -q ../sub-$$ && git -C ../sub-$$ commit -q --allow-empty -m x; git -c protocol.file.allow=always submodule --quiet add ../sub-$$ sub; (cd sub && echo ${m()} > s.txt && git add . && git commit -qm ${m()})`,
  (m) =>
    `o=$(echo ${m()} | git hash-object -w --stdin); f=.git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-); chmod u+w $f; : > $f`,
  (m) =>
    `git config filter.x.clean "sh -c 'echo ${m()} >> $HOME/filter-ran; cat'"; echo '*.txt filter=x' > .gitattributes`,
  (m) => `git init -q --separate-git-dir ../apart-$$ apart; echo ${m()} > apart/f`,
  (m) => `mkdir -p x/.git-like; echo ${m()} > x/.git-like/f; mkdir -p x/CON; echo ${m()} > x/CON/f`,
]

/** What git cannot work with any more; last of all, and not always. */
const ENDS: readonly Step[] = [
  () => ':',
  () => ':',
  () => 'rm -f .gitignore; mkfifo .gitignore',
  (m) => `echo ${m()} > .git/HEAD`,
  () => 'rm -f .git/index; touch .git/index.lock',
  (m) => `rm -rf .git/refs; echo ${m()} > .git/refs`,
  (m) => `mv .git elsewhere; echo ${m()} > elsewhere/${m()}`,
  (m) => `mv .git/objects .git/o; ln -s o .git/objects; echo ${m()} > .git/o/${m()}`,
]

/** A script of some steps; every marker in it is another one. */
export function busyHands(random: Dice, steps: number): string {
  const chosen = Array.from({ length: steps }, () => STEPS[random.below(STEPS.length)])
  const all = [...chosen, ENDS[random.below(ENDS.length)]]
  return all.map((step, n) => `{ ${step?.(random.marker, n)}\n} >/dev/null 2>&1`).join('\n')
}
