package assert

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/callwright/callwright"
)

// Check is a compiled assertion. It is immutable, and safe for concurrent use.
type Check struct {
	of    Assertion
	nodes []string
	rule  rule
}

// rule evaluates the configuration of one type of assertion. The given result already describes the assertion; evaluate sets the other
// fields.
type rule interface {
	evaluate(ctx context.Context, e *Evidence, m evaluationTools, r *Result)
}

// evaluationTools contains the judge and the work limit of an evaluation.
type evaluationTools struct {
	judge Judge // may be nil
	work  *Work
}

// Model returns the model that the assertion's configuration names, or "" if it names none.
func (c *Check) Model() string {
	if j, ok := c.rule.(*judged); ok {
		return j.criterion.Model
	}
	return ""
}

// compilers contains the function that parses the configuration of each type. The function adds its errors to the fields.
var compilers = map[Type]func(*fields, *Assertion) rule{
	LLMJudge:          compileLLMJudge,
	CustomLLM:         compileCustomLLM,
	ServiceTone:       compileServiceTone,
	VariableExtracted: compileVariable,
	NodeReached:       compileNodeReached,
	NodesVisited:      compileNodesVisited,
	WebhookTriggered:  compileWebhook,
	RegexMatch:        compileRegex,
	StringCheck:       compileString,
	TraversalMatch:    compileTraversal,
}

// Compile checks and compiles an assertion with its configuration. The error is a callwright.FieldErrors. Its field names follow the
// contract, for example "weight" and "config.pattern".
//
// The configuration is a JSON object. Compile refuses members of other types of assertions, repeated members and null. It does not check
// that the nodes exist: see Check.Nodes.
func Compile(a Assertion) (*Check, error) {
	f := &fields{}
	if callwright.Longer(a.ID, MaxID) {
		f.rejectf("id", "must have at most %d characters", MaxID)
	}
	if callwright.Longer(a.Name, MaxName) {
		f.rejectf("name", "must have at most %d characters", MaxName)
	}
	if math.IsNaN(a.Weight) || a.Weight < 0 || a.Weight > MaxWeight {
		f.rejectf("weight", "must be a number from 0 to %d", MaxWeight)
	}
	if a.Order < 0 || a.Order > MaxOrder {
		f.rejectf("order", "must be from 0 to %d", MaxOrder)
	}
	compile := compilers[a.Type]
	if compile == nil {
		f.rejectf("type", "must be one of %s, in capital letters", listed(Types()))
		return nil, f.errs
	}
	f.parse(a.Config)
	c := &Check{of: a, rule: compile(f, &a)}
	c.of.Config = nil
	f.refuseUnread()
	if len(f.errs) > 0 {
		return nil, f.errs
	}
	for _, node := range f.nodes {
		if !slices.Contains(c.nodes, node) {
			c.nodes = append(c.nodes, node)
		}
	}
	return c, nil
}

// Nodes returns the ids of the nodes that the configuration names, without duplicates. The tested version should contain them: see Unknown.
func (c *Check) Nodes() []string { return slices.Clone(c.nodes) }

// Judged reports whether a Judge evaluates the assertion.
func (c *Check) Judged() bool {
	_, judged := c.rule.(*judged)
	return judged
}

// Evaluate evaluates the assertion without changing the evidence. It asks j only if the assertion is Judged; if j is then nil, the result
// is an error with CodeJudgeUnavailable. After ctx is done, an assertion decided by a rule results in an error with CodeInterrupted.
func (c *Check) Evaluate(ctx context.Context, e *Evidence, j Judge) Result {
	return c.evaluate(ctx, e, evaluationTools{j, &Work{}})
}

// EvaluateWithin evaluates an assertion decided by a rule, like Evaluate without a judge. The assertions of a run share the limit of w.
// Beyond it, the result is an error with CodeTooLarge.
func (c *Check) EvaluateWithin(ctx context.Context, e *Evidence, w *Work) Result {
	return c.evaluate(ctx, e, evaluationTools{nil, w})
}

func (c *Check) evaluate(ctx context.Context, e *Evidence, m evaluationTools) Result {
	r := begin(&c.of)
	if !c.Judged() && interrupted(ctx, &r) {
		return r
	}
	if e == nil {
		e = &Evidence{}
	}
	switch unknown, missing := e.lacks(c.needs(e)); {
	case missing:
		r.failf(Error, CodeUnknownNode, "The tested version has no node %q. The scenario needs an update.", unknown)
	case len(c.nodes) > 0 && len(e.Visits) > MaxVisits:
		r.failf(Error, CodeTooLarge, "The agent visited more than %d nodes.", MaxVisits)
	default:
		c.rule.evaluate(ctx, e, m, &r)
		if unknown, missing := e.lacks(c.nodes); missing {
			r.Reasoning += fmt.Sprintf(" The tested version has no node %q. The scenario needs an update.", callwright.Clip(unknown, maxExcerpt))
		}
	}
	return r
}

// needs returns the nodes that the tested version must contain so that the assertion can be evaluated. If one of several alternatives
// suffices and exists, only the forbidden nodes are needed.
func (c *Check) needs(e *Evidence) []string {
	v, ok := c.rule.(*visitedRule)
	if !ok || !v.any {
		return c.nodes
	}
	for _, id := range v.nodes {
		if _, missing := e.lacks([]string{id}); !missing {
			return v.forbidden
		}
	}
	return c.nodes
}

// Unknown returns the first node of the configuration that the tested version lacks, if the assertion can be evaluated nevertheless. Else
// it returns "".
func (c *Check) Unknown(e *Evidence) string {
	if _, broken := e.lacks(c.needs(e)); broken {
		return ""
	}
	unknown, _ := e.lacks(c.nodes)
	return unknown
}

// lacks returns the first of the nodes that the tested version lacks. missing is false if all exist, or if the graph is unknown.
func (e *Evidence) lacks(nodes []string) (node string, missing bool) {
	if e.Graph == nil && len(e.Visits) > 0 {
		return "", false
	}
	for _, id := range nodes {
		if _, known := e.Graph[id]; !known {
			return id, true
		}
	}
	return "", false
}

// Invalid returns the error result of a stored assertion for which Compile returns err.
func Invalid(a Assertion, err error) Result {
	r := begin(&a)
	r.failf(Error, CodeInvalidConfig, "The assertion is invalid: %v", err)
	return r
}
