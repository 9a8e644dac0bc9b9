package assert

import (
	"context"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
)

// These constants limit the matches that a result contains.
const (
	maxMatches = 10
	maxGroups  = 10
)

// Match is a match of a regular expression in a turn or in a variable.
type Match struct {
	Turn   *int     `json:"turn,omitempty"` // index of the turn; nil for a variable
	Text   string   `json:"text"`
	Groups []string `json:"groups,omitempty"` // groups in order; a group without a match is ""
}

// regexRule is the rule of RegexMatch.
type regexRule struct {
	target
	pattern pattern
	text    string // the pattern, as written
	least   int    // number of matches with which the assertion passes or, with negate, fails
	negate  bool
}

// pattern is a compiled regular expression with its cost.
type pattern struct {
	*regexp.Regexp

	steps    int // number of instructions of its program
	literals literals
}

func compileRegex(f *fields, _ *Assertion) rule {
	c := &regexRule{}
	flags := f.text("flags", 3)
	if strings.Trim(flags, "ims") != "" {
		f.rejectf(path("flags"), "must contain only the letters i, m and s")
		flags = ""
	}
	f.require("pattern")
	c.text = f.word("pattern", MaxPattern)
	c.pattern = f.expression("pattern", c.text, flags)
	if c.target = readTarget(f); c.variable == "" && f.has("turn") {
		c.turn = f.whole("turn", -1, 0, MaxTurn)
	}
	c.least = f.whole("min_matches", 1, 1, MaxCount)
	c.negate = f.flag("negate", false)
	return c
}

// expression compiles a regular expression. It adds an error for the member if the expression is invalid or too long.
func (f *fields) expression(name, text, flags string) pattern {
	if len(text) > MaxPattern {
		f.rejectf(path(name), "must have at most %d bytes", MaxPattern)
		return pattern{}
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		f.rejectf(path(name), "must be a regular expression in RE2 syntax: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return pattern{}
	}
	if flags != "" {
		if compiled, err = regexp.Compile("(?" + flags + ")" + text); err != nil {
			f.rejectf(path(name), "must be a regular expression in RE2 syntax that allows the flags: %s", err.Error())
			return pattern{}
		}
	}
	return analyze(compiled)
}

// analyze returns a regular expression with its literals and the length of its program.
func analyze(compiled *regexp.Regexp) pattern {
	p := pattern{Regexp: compiled, steps: MaxWork}
	parsed, err := syntax.Parse(compiled.String(), syntax.Perl)
	if err != nil {
		return p
	}
	p.literals = literalsOf(parsed)
	if program, err := syntax.Compile(parsed.Simplify()); err == nil {
		p.steps = len(program.Inst)
	}
	return p
}

func (c *regexRule) evaluate(ctx context.Context, e *Evidence, m evaluationTools, r *Result) {
	r.Expected = c.text
	look := c.inTurns
	if c.variable != "" {
		look = c.inVariable
	}
	count, ok := look(ctx, e, m.work, r)
	if !ok {
		return
	}
	c.decide(e, count, r)
	if r.Code == CodeNoMatch && r.Turn == nil && c.variable == "" && c.role != llm.RoleCaller {
		r.blameMissingWords(e, func(text string) bool { return c.says(text, m.work) })
	}
}

// inTurns searches turns until it has found c.least matches, records the found matches in r, and returns their number. If ok is false, r is
// already decided.
func (c *regexRule) inTurns(ctx context.Context, e *Evidence, w *Work, r *Result) (count int, ok bool) {
	if !c.words(e, r) {
		return 0, false
	}
	var array [64]int
	turns, size := c.candidates(e, array[:0])
	if !w.admit(c.pattern, size, c.least, r) {
		return 0, false
	}
	var matches []Match
	for _, i := range turns {
		if count == c.least {
			break
		}
		if interrupted(ctx, r) {
			return 0, false
		}
		text := e.Turns[i].Text
		found := c.find(text, c.least-count, w)
		if len(found) > 0 {
			count += len(found)
			matches = appendMatches(matches, found, text, i)
			r.decidedIn(e, i)
		}
	}
	if count > 0 {
		r.Actual = matches
	}
	return count, true
}

// candidates appends the indexes of the turns that may contain a match, and returns their total size in bytes. Each turn counts one extra
// byte, so that empty turns count too.
func (c *regexRule) candidates(e *Evidence, to []int) (turns []int, size int) {
	var room [1 << 10]byte
	for i := range e.Turns {
		if t := &e.Turns[i]; c.has(i, t) && c.pattern.literals.mayMatch(t.Text, room[:0]) {
			to = append(to, i)
			size += len(t.Text) + 1
		}
	}
	return to, size
}

// inVariable is like inTurns, for the value of a variable.
func (c *regexRule) inVariable(_ context.Context, e *Evidence, w *Work, r *Result) (count int, ok bool) {
	text, known := c.textOf(e, r)
	if !known || !w.admit(c.pattern, len(text)+1, c.least, r) {
		return 0, false
	}
	found := c.find(text, c.least, w)
	if len(found) > 0 {
		r.Actual = appendMatches(nil, found, text, -1)
	}
	return len(found), true
}

// find returns at most n matches in the format of package regexp, and counts the work. Each match, and the search after the last one, may
// read the whole text.
func (c *regexRule) find(text string, n int, w *Work) (found [][]int) {
	if n > 1 {
		found = c.pattern.FindAllStringSubmatchIndex(text, n)
	} else if match := c.pattern.FindStringSubmatchIndex(text); match != nil {
		found = [][]int{match}
	}
	w.add(c.pattern, len(text)+1, min(len(found)+1, n))
	return found
}

// says reports whether the words of a node contain a match. It returns false without searching if the work would exceed the limit.
func (c *regexRule) says(text string, w *Work) bool {
	var room [1 << 10]byte
	return c.pattern.literals.mayMatch(text, room[:0]) && w.canAfford(c.pattern, len(text)+1, 1) && len(c.find(text, 1, w)) > 0
}

// decide sets the outcome for the number of found matches.
func (c *regexRule) decide(e *Evidence, count int, r *Result) {
	enough := count >= c.least
	shown, where := excerpt(c.text), c.String()
	switch {
	case c.negate && enough:
		r.failf(Failed, CodeForbidden, "%s must not match, but does in %s.", shown, where)
	case c.negate:
		r.passf("%s does not match in %s.", shown, where)
	case enough:
		r.passf("%s matches in %s.", shown, where)
	default:
		r.failf(Failed, CodeNoMatch, "%s has %s in %s, but needs %d.", shown, plural(count, "match"), where, c.least)
		r.Turn = nil
		if c.turn >= 0 {
			r.decidedIn(e, c.turn)
		}
	}
	r.blame(e, c.variable)
}

// appendMatches appends the matches in a text, up to maxMatches. turn is -1 for a variable.
func appendMatches(to []Match, found [][]int, text string, turn int) []Match {
	for _, at := range found {
		if len(to) == maxMatches {
			return to
		}
		m := Match{Text: clipped(text[at[0]:at[1]])}
		if turn >= 0 {
			m.Turn = &turn
		}
		for g := 2; g < len(at) && len(m.Groups) < maxGroups; g += 2 {
			group := ""
			if at[g] >= 0 {
				group = clipped(text[at[g]:at[g+1]])
			}
			m.Groups = append(m.Groups, group)
		}
		to = append(to, m)
	}
	return to
}

// clipped returns the beginning of a text, for a list in a result.
func clipped(text string) string {
	return callwright.Clip(strings.ToValidUTF8(text, "\uFFFD"), maxExcerpt)
}
