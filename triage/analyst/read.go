package analyst

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/triage"
)

// Limits of a note about a resource, and of an issue and its flags in a question, in bytes unless noted.
const (
	maxObservation = 2_000
	maxQuotes      = 12 // maximum number of lines, and of facts, in a note
	maxQuote       = 400
	maxDescription = 8_000
	maxNote        = 500
	maxFlags       = 50 // number of flags
)

// note is the model's observation about a resource, with the lines and facts that support the observation.
type note struct {
	Type        triage.ResourceType `json:"resource_type"`
	ID          string              `json:"resource_id"`
	Title       string              `json:"title"`
	Observation string              `json:"observation"`
	Lines       []quote             `json:"lines"`
	Facts       []fact              `json:"facts"`
}

const readRules = `An issue of a platform for telephone agents is looked into. The evidence has one of the resources that are ` +
	`attached to the issue: its facts by name, and the lines of its conversation with their numbers, where there are such. ` +
	`Lines may be left out; lines_in_all says how many there are. Flags are places that people have marked.

Say in at most three sentences what in this resource bears on why the issue happened. Speak only of what stands there. ` +
	`Where nothing bears on it, say so. List the numbers of the lines, and the names of the facts, that your words rest on.`

const readSchema = `{
	"type": "object",
	"properties": {
		"observation": {"type": "string"},
		"lines": {"type": "array", "items": {"type": "integer"}},
		"facts": {"type": "array", "items": {"type": "string"}}
	},
	"required": ["observation", "lines", "facts"],
	"additionalProperties": false
}`

// read asks the model about the next resource of the plan. It reports and skips a resource that was detached or became unreadable.
func (a *Analyst) read(ctx context.Context, c triage.Case, s *state) (triage.Progress, error) {
	at := slices.IndexFunc(c.Resources, func(r triage.Resource) bool { return r.ID == s.Plan[s.Read] })
	s.Read++
	if at < 0 {
		return passedBy("One of the resources is no longer attached."), nil
	}
	r := c.Resources[at]
	e, why, err := evidence(ctx, c, r)
	if err != nil {
		return triage.Progress{}, err
	}
	if why != "" {
		return passedBy(fmt.Sprintf("Not read: %s: %s.", name(r), why)), nil
	}
	flags := slices.DeleteFunc(slices.Clone(c.Flags), func(f triage.Flag) bool {
		return r.Type != triage.ResourceCall || f.CallID != r.ResourceID
	})
	shown := cut(e, flaggedLines(flags))
	var answer struct {
		Observation string
		Lines       []int
		Facts       []string
	}
	if err := a.ask(ctx, c, s, readRules, map[string]any{
		"issue": describe(c.Issue), "resource": map[string]any{"type": r.Type, "title": clip(r.Title, maxTitle)},
		"flags": describeFlags(flags), "facts": shown.Facts, "lines": shown.Lines, "lines_in_all": shown.Total,
	}, readSchema, &answer); err != nil {
		return triage.Progress{}, err
	}
	n := note{Type: r.Type, ID: r.ResourceID, Title: clip(r.Title, maxTitle), Observation: clip(answer.Observation, maxObservation)}
	if n.Observation == "" {
		return triage.Progress{}, &llm.Failure{Class: llm.ClassInvalid, Message: "the observation is empty"}
	}
	unverified := n.add(shown, answer.Lines, answer.Facts)
	s.Notes = append(s.Notes, n)
	return triage.Progress{
		Steps: []triage.Step{
			{
				Type: triage.TypeAction, Detail: "Read " + name(r) + ".", Metadata: map[string]any{
					"resource_type": string(r.Type), "resource_id": r.ResourceID, "lines": shown.Total, "lines_shown": len(shown.Lines),
				},
			},
			{
				Type: triage.TypeThought, Detail: n.text(), Metadata: map[string]any{
					"resource_type": string(r.Type), "resource_id": r.ResourceID, "lines": n.lines(), "unverified": unverified,
				},
			},
		},
		Next: triage.SessionActive,
	}, nil
}

// passedBy returns a progress that reports a skipped resource and continues the analysis.
func passedBy(why string) triage.Progress {
	return triage.Progress{Steps: []triage.Step{{Type: triage.TypeAction, Detail: why}}, Next: triage.SessionActive}
}

// add adds the lines and facts that the model cites to the note, each once and at most maxQuotes of either. It returns the number of
// citations that the model was not shown.
func (n *note) add(shown excerpt, lines []int, facts []string) (unverified int) {
	slices.Sort(lines)
	for _, i := range slices.Compact(lines) {
		at, ok := slices.BinarySearchFunc(shown.Lines, i, func(q quote, i int) int { return cmp.Compare(q.Line, i) })
		switch {
		case !ok:
			unverified++
		case len(n.Lines) < maxQuotes:
			q := shown.Lines[at]
			q.Text = clip(q.Text, maxQuote)
			n.Lines = append(n.Lines, q)
		}
	}
	slices.Sort(facts)
	for _, name := range slices.Compact(facts) {
		raw, ok := shown.Facts[name]
		switch {
		case !ok:
			unverified++
		case len(n.Facts) < maxQuotes:
			n.Facts = append(n.Facts, fact{name, clip(plain(raw), maxQuote)})
		}
	}
	return unverified
}

// plain returns a JSON string as its text, and any other JSON value unchanged.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// text returns the note as Markdown for the feed: the observation, and a list of the quoted lines and facts.
func (n note) text() string {
	var b strings.Builder
	b.WriteString(n.Observation)
	for _, q := range n.Lines {
		fmt.Fprintf(&b, "\n- line %d, %s: %q", q.Line, q.Speaker, q.Text)
	}
	for _, f := range n.Facts {
		fmt.Fprintf(&b, "\n- %s: %s", f.Name, f.Text)
	}
	return b.String()
}

func (n note) lines() []any {
	out := make([]any, len(n.Lines))
	for i, q := range n.Lines {
		out[i] = q.Line
	}
	return out
}

// describe returns the members of an issue that the model is shown, with long texts truncated.
func describe(i triage.Issue) map[string]any {
	return map[string]any{
		"title": clip(i.Title, maxDescription), "description": clip(i.Description, maxDescription),
		"category": i.Category, "severity": i.Severity, "source": i.Source,
	}
}

// describeFlags returns the members of the first maxFlags flags that the model is shown, with long texts truncated.
func describeFlags(flags []triage.Flag) []map[string]any {
	out := []map[string]any{}
	for _, f := range flags[:min(len(flags), maxFlags)] {
		out = append(out, map[string]any{
			"call_id": f.CallID, "type": f.Type, "note": clip(f.Note, maxNote), "line": f.MessageIndex, "text": clip(f.MessageText, maxNote),
			"node": f.NodeName,
		})
	}
	return out
}

// flaggedLines returns the line numbers of the flags that flag a line.
func flaggedLines(flags []triage.Flag) []int {
	var out []int
	for _, f := range flags {
		if f.MessageIndex != nil {
			out = append(out, *f.MessageIndex)
		}
	}
	return out
}
