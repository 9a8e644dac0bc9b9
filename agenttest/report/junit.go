package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
)

// These types are the elements of a JUnit file that most readers support.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr,omitempty"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure,omitempty"`
		Error   *junitMessage `xml:"error,omitempty"`
		Skipped *junitMessage `xml:"skipped,omitempty"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes a report as JUnit XML, with a suite for each scenario and a case for each run. Failures of the agent are <failure>, errors
// of the test are <error>, and canceled runs are <skipped>. The statistics of a scenario are properties of its suite.
func JUnit(w io.Writer, r Report) error {
	all := junitSuites{Name: r.Name, Time: seconds(r.Took)}
	for _, s := range r.Scenarios {
		suite := junitOf(s)
		if !r.At.IsZero() {
			suite.Timestamp = r.At.UTC().Format("2006-01-02T15:04:05")
		}
		all.Tests += suite.Tests
		all.Failures += suite.Failures
		all.Errors += suite.Errors
		all.Skipped += suite.Skipped
		all.Suites = append(all.Suites, suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitOf(s Scenario) junitSuite {
	suite := junitSuite{Name: plain(s.Name), Tests: len(s.Runs)}
	var took time.Duration
	for i, run := range s.Runs {
		took += run.Took
		c := junitCase{Name: plain(s.Name), Class: plain(cmp.Or(string(s.Category), "scenario")), Time: seconds(run.Took)}
		if len(s.Runs) > 1 {
			c.Name += fmt.Sprintf(" (run %d)", i+1)
		}
		why := plain(details(run))
		switch run.Verdict {
		case engine.Failed:
			f := run.failure()
			c.Failure = &junitMessage{plain(f.Reasoning), cmp.Or(string(f.Code), "score"), why}
			suite.Failures++
		case engine.Error:
			c.Error = &junitMessage{plain(cmp.Or(run.Error, firstError(run))), "error", why}
			suite.Errors++
		case engine.Cancelled:
			c.Skipped = &junitMessage{"cancelled", "cancelled", ""}
			suite.Skipped++
		case engine.Passed:
		}
		if run.Verdict != engine.Passed || len(run.Warnings) > 0 {
			c.Out = plain(transcript(run))
		}
		suite.Cases = append(suite.Cases, c)
	}
	suite.Time = seconds(took)
	d := s.Describe()
	suite.Properties = []junitProperty{
		{"runs", strconv.Itoa(d.Total)}, {"passed", strconv.Itoa(d.Passed)}, {"coverage", number(d.Coverage)},
		{"confidence", string(d.Confidence)}, {"stability", string(d.Stability)},
	}
	if d.Rate != nil {
		suite.Properties = append(suite.Properties, junitProperty{"pass_rate", number(*d.Rate)},
			junitProperty{"interval", number(d.Interval.Low) + ".." + number(d.Interval.High)})
	}
	return suite
}

// details returns a line for each of a run's assertions, with outcome and reasoning.
func details(r Run) string {
	var b strings.Builder
	for _, a := range r.Results {
		fmt.Fprintf(&b, "%s %s: %s\n", a.Outcome, title(a), a.Reasoning)
	}
	return b.String()
}

// firstError returns the title and the reasoning of the first assertion that could not be evaluated. If all were evaluated, it returns the
// reason why the conversation ended.
func firstError(r Run) string {
	for _, a := range r.Results {
		if a.Outcome == assert.Error {
			return title(a) + ": " + a.Reasoning
		}
	}
	return string(r.End)
}

// transcript returns the warnings, words, visited nodes and events of a run as text.
func transcript(r Run) string {
	var b strings.Builder
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	for _, t := range r.Turns {
		fmt.Fprintf(&b, "%s: %s\n", t.Role, t.Text)
	}
	if len(r.Way) > 0 {
		fmt.Fprintf(&b, "way: %s\n", strings.Join(r.Way, " → "))
	}
	for _, e := range r.Events {
		fmt.Fprintln(&b, e)
	}
	return b.String()
}

// plain returns a text without the characters that XML 1.0 cannot represent. It replaces invalid UTF-8 by U+FFFD.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r != 0xFFFE && r != 0xFFFF {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

func number(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
