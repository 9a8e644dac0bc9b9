package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/stats"
)

// Markdown writes a report as Markdown for people: a table of the scenarios, followed by the runs that failed, were errors or have
// warnings, with their conversations.
func Markdown(w io.Writer, r Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", cell(nameOr(r.Name, "Agent tests")))
	b.WriteString("| Scenario | Result | Passed | Pass rate (95 %) | Score | Errors |\n|---|---|---|---|---|---|\n")
	for _, s := range r.Scenarios {
		d := s.Describe()
		fmt.Fprintf(&b, "| %s | %s | %d of %d | %s | %s | %d |\n", cell(s.Name), result(d), d.Passed, d.Passed+d.Failed, rate(d), score(d), d.Errors)
	}
	for _, s := range r.Scenarios {
		for i, run := range s.Runs {
			if run.Verdict == engine.Failed || run.Verdict == engine.Error || len(run.Warnings) > 0 {
				markdownRun(&b, s, i, run)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownRun writes why a run did not pass, its warnings, its visited nodes and events, and its conversation.
func markdownRun(b *strings.Builder, s Scenario, i int, r Run) {
	fmt.Fprintf(b, "\n## %s, run %d: %s\n\n", cell(s.Name), i+1, r.Verdict)
	if r.Error != "" {
		fmt.Fprintf(b, "%s\n\n", cell(r.Error))
	}
	for _, a := range r.Results {
		if a.Outcome != assert.Passed {
			fmt.Fprintf(b, "- %s **%s**: %s\n", a.Outcome, cell(title(a)), cell(a.Reasoning))
		}
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(b, "- warning: %s\n", cell(w))
	}
	if len(r.Way) > 0 {
		fmt.Fprintf(b, "\nWay: %s\n", cell(strings.Join(r.Way, " → ")))
	}
	for _, e := range r.Events {
		fmt.Fprintf(b, "- %s\n", cell(e))
	}
	if len(r.Turns) > 0 {
		b.WriteString("\n")
		for _, t := range r.Turns {
			fmt.Fprintf(b, "> %s: %s\n>\n", t.Role, cell(t.Text))
		}
	}
}

// result returns the result of a scenario as one word.
func result(d stats.Scenario) string {
	switch {
	case d.Failed > 0 && d.Passed > 0:
		return "flaky"
	case d.Failed > 0:
		return "failed"
	case d.Errors > 0 || d.Insufficient:
		return "error"
	default:
		return "passed"
	}
}

func rate(d stats.Scenario) string {
	if d.Rate == nil {
		return "none"
	}
	return fmt.Sprintf("%.0f %% (%.0f to %.0f)", 100**d.Rate, 100*d.Interval.Low, 100*d.Interval.High)
}

func score(d stats.Scenario) string {
	if d.Scores.Mean == nil {
		return "none"
	}
	return fmt.Sprintf("%.2f", *d.Scores.Mean)
}

// cell returns a text on one line in which Markdown and HTML markup is escaped.
func cell(text string) string {
	text = strings.Join(strings.Fields(plain(text)), " ")
	return escaper.Replace(text)
}

var escaper = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "#", `\#`, "!", `\!`, `\`, `\\`,
)

func nameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}
