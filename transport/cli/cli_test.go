package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agenttest/report"
	"github.com/callwright/callwright/transport/cli"
)

const pathway = "testdata/pathway.json"

// callwright runs the command line with the stand-in for a language model.
func callwright(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	config := cli.Config{Model: func(cli.ModelOptions) (llm.Model, error) { return scripted.New(), nil }}
	code = cli.Run(t.Context(), config, args, func(string) string { return "" }, &out, &errs)
	return code, out.String(), errs.String()
}

// write writes a file of scenarios and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "more.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestPasses(t *testing.T) {
	t.Parallel()
	code, out, errs := callwright(t, "test", "testdata/scenarios", "--pathway", pathway, "--runs", "3")
	if code != report.ExitPassed || errs != "" || !strings.Contains(out, "| Renews a prescription | passed | 3 of 3 |") {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
	code, out, _ = callwright(t, "test", "testdata/scenarios/renewal.yaml", "--pathway", pathway, "--only", "ASKS", "--format", "json")
	var r struct {
		Scenarios []struct {
			Name string `json:"scenario_name"`
		} `json:"scenarios"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != report.ExitPassed || len(r.Scenarios) != 1 || r.Scenarios[0].Name != "Asks something" {
		t.Errorf("exit code %d, %v\n%s", code, err, out)
	}
}

func TestFails(t *testing.T) {
	t.Parallel()
	wrong := write(t, `
name: Wants to renew and is asked back
input_messages: [{role: user, content: "I want to renew."}]
assertions:
  - {type: NODE_REACHED, config: {node_id: ask}}
`)
	file := filepath.Join(t.TempDir(), "report.xml")
	code, out, errs := callwright(t, "test", "testdata/scenarios", wrong, "--pathway", pathway, "--format", "junit", "-o", file)
	if code != report.ExitFailed || out != "" || errs != "" {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	raw, err := os.ReadFile(file)
	var suites struct {
		Failures int `xml:"failures,attr"`
		Tests    int `xml:"tests,attr"`
	}
	if err != nil || xml.Unmarshal(raw, &suites) != nil || suites.Failures != 1 || suites.Tests != 3 {
		t.Errorf("%v\n%s", err, raw)
	}
}

// TestErrors checks that the exit code is ExitErrors, neither success nor failure, if a judged scenario has no judge, and if the command is
// interrupted.
func TestErrors(t *testing.T) {
	t.Parallel()
	judged := write(t, `
name: Is polite
input_messages: [{role: user, content: "I have a question."}]
assertions:
  - {type: LLM_JUDGE, config: {prompt: The agent is polite.}}
`)
	if code, out, _ := callwright(t, "test", judged, "--pathway", pathway); code != report.ExitErrors || !strings.Contains(out, "| Is polite | error |") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	config := cli.Config{Model: func(cli.ModelOptions) (llm.Model, error) { return scripted.New(), nil }}
	code := cli.Run(ctx, config, []string{"test", "testdata/scenarios", "--pathway", pathway}, os.Getenv, &out, &errs)
	if code != report.ExitErrors {
		t.Errorf("an interrupted command ends with %d\n%s%s", code, out.String(), errs.String())
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	broken := write(t, "name: A\ninput_messages: [{role: user, content: x}]\nmax_turns: 500\n")
	csv := filepath.Join(t.TempDir(), "d.csv")
	if err := os.WriteFile(csv, []byte("name,tester_persona_prompt\nA,p\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	off := write(t, "name: A\ninput_messages: [{role: user, content: x}]\nenabled: false\n")
	for want, args := range map[string][]string{
		"requires at least 1 arg":             {"test"},
		"--pathway is required":               {"test", "testdata/scenarios"},
		"--runs must be from 1 to 200":        {"test", "x", "--pathway", pathway, "--runs", "0"},
		"--parallel must be from 1 to 64":     {"test", "x", "--pathway", pathway, "--parallel", "65"},
		"--format must be one of json, junit": {"test", "x", "--pathway", pathway, "--format", "pdf"},
		"--llm-model requires --llm-base-url": {"test", "x", "--pathway", pathway, "--llm-model", "m"},
		"no such file or directory":           {"test", "testdata/none", "--pathway", pathway},
		"more.yaml:3:12: max_turns: must be":  {"test", broken, "--pathway", pathway},
		"d.csv: must end in .yaml":            {"test", csv, "--pathway", pathway},
		"no scenario is enabled":              {"test", off, "--pathway", pathway},
		"two scenarios have it":               {"test", "testdata/scenarios", "testdata/scenarios/renewal.yaml", "--pathway", pathway},
		"must be a JSON object with nodes":    {"test", "testdata/scenarios", "--pathway", "testdata/scenarios/renewal.yaml"},
		"unknown flag: --pathwy":              {"test", "x", "--pathwy", pathway},
	} {
		if code, out, errs := callwright(t, args...); code != report.ExitUsage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%v ended with %d: %q, %q, want %q", args, code, out, errs, want)
		}
	}
	if code, out, errs := callwright(t, "tset"); code != cli.ExitUsage || out != "" || !strings.Contains(errs, `unknown command "tset" for "callwright`) || !strings.Contains(errs, "\n\ttest\n") {
		t.Errorf("an unknown command ended with %d: %q, %q", code, out, errs)
	}
	if code, out, _ := callwright(t, "test", "--help"); code != 0 || !strings.Contains(out, "Exit codes: 0 all passed") {
		t.Errorf("help ended with %d\n%s", code, out)
	}
}
