package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/report"
	"github.com/callwright/callwright/agenttest/scenario"
)

var update = flag.Bool("update", false, "write the golden files anew")

// run returns a run with the verdict v and one required assertion that causes it.
func run(id string, v engine.Verdict) report.Run {
	r := report.Run{ID: id, Verdict: v, Score: new(1.0), Took: 1500 * time.Millisecond, End: assert.EndByAgent}
	r.Turns = []assert.Turn{{Role: llm.RoleAgent, Text: "Hello."}, {Role: llm.RoleCaller, Text: "I want a refund."}}
	result := assert.Result{Assertion: "a1", Type: assert.StringCheck, Name: "Offers a refund", Required: true, Weight: 1, Outcome: assert.Passed, Score: new(1.0)}
	switch v {
	case engine.Failed:
		r.Score = new(0.25)
		result.Outcome, result.Code, result.Score, result.Reasoning = assert.Failed, assert.CodeNoMatch, new(0.0), `No agent turn contains "refund".`
	case engine.Error:
		r.Score = nil
		result.Outcome, result.Code, result.Score, result.Reasoning = assert.Error, assert.CodeJudgeUnavailable, nil, "There is no judge."
	case engine.Cancelled:
		r.Score, result.Outcome = nil, assert.Error
	case engine.Passed:
	}
	r.Results = []assert.Result{result}
	return r
}

// unasserted returns a run of a scenario without assertions, which always passes.
func unasserted() report.Run {
	r := report.NewRun("r7", engine.Outcome{
		Verdict: engine.Passed, Warnings: []string{"The scenario has no assertions, so every run passes."},
		Evidence: assert.Evidence{Visits: []assert.Visit{{Node: "ask"}, {Node: "hook"}}, Graph: assert.Graph{"ask": {Name: "Ask"}}},
		Turns: []engine.Turn{{Notes: []engine.Note{
			{Kind: "decision", Text: "the only way"}, {Kind: "tool_call", Text: "slots: POST https://example.com/ failed: no answer within 10s"},
		}}},
	})
	return r
}

// mixed returns a report with a flaky scenario, two passing ones and one without a verdict.
func mixed() report.Report {
	return report.Report{
		Name: "Billing", At: time.Date(2026, 3, 2, 9, 15, 4, 0, time.UTC), Took: 9 * time.Second,
		Scenarios: []report.Scenario{
			{ID: "s1", Name: "Wants a refund", Category: scenario.AngryCaller, Runs: []report.Run{run("r1", engine.Passed), run("r2", engine.Failed), run("r3", engine.Error)}},
			{ID: "s2", Name: "Pays", Category: scenario.HappyPath, Runs: []report.Run{run("r4", engine.Passed)}},
			{ID: "s4", Name: "Expects nothing", Category: scenario.Custom, Runs: []report.Run{unasserted()}},
			{ID: "s3", Name: "Is judged", Category: scenario.Custom, Runs: []report.Run{run("r5", engine.Error), run("r6", engine.Cancelled)}},
		},
	}
}

// TestGolden compares each format with a file that a person has reviewed. The flag -update writes the files anew.
func TestGolden(t *testing.T) {
	t.Parallel()
	files := map[string]string{"junit": "junit.xml", "json": "report.json", "markdown": "markdown.md"}
	for name, write := range report.Formats() {
		var got bytes.Buffer
		if err := write(&got, mixed()); err != nil {
			t.Fatal(err)
		}
		file := "testdata/" + files[name]
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || got.String() != string(want) {
			t.Errorf("%s is not as in %s (%v):\n%s", name, file, err, got.String())
		}
	}
}

func TestExit(t *testing.T) {
	t.Parallel()
	of := func(asked int, verdicts ...engine.Verdict) report.Report {
		s := report.Scenario{Name: "s", Asked: asked}
		for _, v := range verdicts {
			s.Runs = append(s.Runs, run("r", v))
		}
		return report.Report{Scenarios: []report.Scenario{{Name: "other", Runs: []report.Run{run("r", engine.Passed)}}, s}}
	}
	for name, tt := range map[string]struct {
		report report.Report
		want   int
	}{
		"all pass":             {of(0, engine.Passed, engine.Passed), report.ExitPassed},
		"one fails":            {of(0, engine.Passed, engine.Failed, engine.Error), report.ExitFailed},
		"one is an error":      {of(0, engine.Passed, engine.Passed, engine.Passed, engine.Passed, engine.Passed, engine.Error), report.ExitErrors},
		"one was cancelled":    {of(0, engine.Passed, engine.Cancelled), report.ExitErrors},
		"too few of the asked": {of(10, engine.Passed), report.ExitErrors},
		"none was run":         {of(0), report.ExitErrors},
		"no scenario":          {report.Report{}, report.ExitErrors},
	} {
		if got := report.Exit(tt.report); got != tt.want {
			t.Errorf("%s: the exit code is %d, want %d", name, got, tt.want)
		}
	}
}

// TestHostileTexts checks that texts of callers and models cannot break a format.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	hostile := "</failure><testcase name=\"x\"/>]]>\x00\x1b[31m\ufffe | `a` **b** <script>alert(1)</script>\n# heading \xff\\"
	r := run("r1", engine.Failed)
	r.Turns[1].Text, r.Results[0].Reasoning, r.Results[0].Name, r.Error = hostile, hostile, hostile, hostile
	all := report.Report{Name: hostile, Scenarios: []report.Scenario{{Name: hostile, Runs: []report.Run{r}}}}
	var out bytes.Buffer
	if err := report.JUnit(&out, all); err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Suites []struct {
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Failure []struct{} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(out.Bytes(), &parsed); err != nil || len(parsed.Suites) != 1 || len(parsed.Suites[0].Cases) != 1 || len(parsed.Suites[0].Cases[0].Failure) != 1 {
		t.Errorf("the JUnit file is %+v, %v", parsed, err)
	}
	out.Reset()
	if err := report.Markdown(&out, all); err != nil || strings.Contains(out.String(), "<script") || strings.Contains(out.String(), "\n# heading") {
		t.Errorf("the Markdown is %v\n%s", err, out.String())
	}
	for line := range strings.Lines(out.String()) {
		if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); strings.HasPrefix(line, "|") && cells != 7 {
			t.Errorf("a row has %d cells: %s", cells-1, line)
		}
	}
	out.Reset()
	if err := report.JSON(&out, all); err != nil || !json.Valid(out.Bytes()) {
		t.Errorf("the JSON is %v\n%s", err, out.String())
	}
}
