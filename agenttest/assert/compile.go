package assert

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/callwright/callwright"
)

// Check is an assertion that is ready to be evaluated. It is immutable, and safe for concurrent use.
type Check struct {
	of    Assertion
	nodes []string
	rule  rule
}

// rule evaluates the configuration of one type. The result already contains the assertion; evaluate sets the rest.
type rule interface {
	evaluate(ctx context.Context, e *Evidence, m evaluationTools, r *Result)
}

// evaluationTools holds the tools of an evaluation.
type evaluationTools struct {
	judge Judge // nil: none
	work  *Work
}

// Model returns the model name in an assertion; empty: none.
func (c *Check) Model() string {
	if j, ok := c.rule.(*judged); ok {
		return j.criterion.Model
	}
	return ""
}

// compilers parse the configuration of each type. Errors go to the fields.
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

// Compile checks an assertion and its configuration. The error is a callwright.FieldErrors with all errors; the fields are the
// contract's, for example "weight" and "config.pattern".
//
// The configuration is a JSON object. Members of another type of assertion, repeated members and null are refused. The existence of
// the nodes is not checked: see Check.Nodes.
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

// Nodes returns the ids of the nodes that the configuration names, each once. When the tested version lacks one of them,
// the assertion cannot be evaluated.
func (c *Check) Nodes() []string { return slices.Clone(c.nodes) }

// Judged reports whether a Judge evaluates the assertion.
func (c *Check) Judged() bool {
	_, judged := c.rule.(*judged)
	return judged
}

// Evaluate evaluates the assertion. Only an assertion that is Judged asks j, which may be nil: then its result is an error with
// CodeJudgeUnavailable. The evidence does not change. Once ctx has ended, an assertion decided by a rule is an error with
// CodeInterrupted.
func (c *Check) Evaluate(ctx context.Context, e *Evidence, j Judge) Result {
	return c.evaluate(ctx, e, evaluationTools{j, &Work{}})
}

// EvaluateWithin evaluates an assertion decided by a rule, like Evaluate without a judge, as one of several of a run: beyond their
// shared limit of work, its result is an error with CodeTooLarge.
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

// needs returns the nodes without which the assertion cannot be evaluated. Of alternatives it returns one.
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

// Unknown returns the first node of the configuration that the tested version lacks, although the assertion can be evaluated;
// empty: none.
func (c *Check) Unknown(e *Evidence) string {
	if _, broken := e.lacks(c.needs(e)); broken {
		return ""
	}
	unknown, _ := e.lacks(c.nodes)
	return unknown
}

// lacks returns the first of the nodes that the tested version lacks.
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

// Invalid returns the result of a stored assertion that Compile refuses.
func Invalid(a Assertion, err error) Result {
	r := begin(&a)
	r.failf(Error, CodeInvalidConfig, "The assertion is invalid: %v", err)
	return r
}
