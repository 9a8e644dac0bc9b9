package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm/price"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/report"
	"github.com/callwright/callwright/agenttest/runner"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/suite"
)

// keyVariable is the environment variable that contains the API key of the language model. The key cannot be a flag, because other users
// can read command lines.
const keyVariable = "CALLWRIGHT_LLM_API_KEY"

// The limits of callwright test.
const (
	maxRuns     = 200
	maxParallel = 64
	maxPathway  = 4 << 20 // bytes of the pathway's file
)

const jsonFormat = "json" // a format of package report

// testOptions contains the flags of callwright test.
type testOptions struct {
	pathway  string
	runs     int
	parallel int
	format   string
	output   string
	only     string
	model    ModelOptions
}

func testCommand(c Config, env func(string) string) *cobra.Command {
	var o testOptions
	cmd := &cobra.Command{
		Use:   "test PATH...",
		Short: "Run scenarios from files against a pathway, without a server",
		Long: "Runs scenarios from YAML or JSON files, or from folders of such files, against a pathway in a JSON file with nodes\n" +
			"and edges. Requests of the pathway are not sent: the scenarios' mocks answer them.\n\n" +
			"Without --llm-base-url no language model is asked: callers follow input_messages, the pathway follows its rules, and\n" +
			"assertions that need a judge are errors. The key of the model comes from the environment: " + keyVariable + ".\n" +
			"With --json the report is printed as JSON, also when --output writes it to a file in the format of --format.\n\n" +
			"Exit codes: 0 all passed; 1 a run has failed; 2 runs ended in errors, so that it is not known; 3 nothing was run.",
		Example: "  callwright test ./scenarios --pathway pathway.json\n" +
			"  callwright test ./scenarios --pathway pathway.json --runs 5 --format junit --output report.xml",
		Args:        cobra.MinimumNArgs(1),
		Annotations: map[string]string{ownCodes: "true"},
		RunE: func(cmd *cobra.Command, paths []string) error {
			if asJSON(cmd) && o.output == "-" {
				if cmd.Flags().Changed("format") && o.format != jsonFormat {
					return fmt.Errorf("--json prints the report as JSON: to write it in the format %s, too, name a file with --output", o.format)
				}
				o.format = jsonFormat
			}
			o.model.APIKey = callwright.Secret(env(keyVariable))
			return test(cmd, c, o, paths)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.pathway, "pathway", "", "the `file` of the pathway to test (required)")
	flags.IntVar(&o.runs, "runs", 1, "run each scenario this many times, at most 200")
	flags.IntVar(&o.parallel, "parallel", 4, "run at most this many scenarios concurrently, up to 64")
	flags.StringVar(&o.format, "format", "markdown", "the report's format: "+strings.Join(formatNames(), ", "))
	flags.StringVarP(&o.output, "output", "o", "-", "write the report to a `file`")
	flags.StringVar(&o.only, "only", "", "run only scenarios whose name holds this `text`, whatever its case")
	flags.StringVar(&o.model.BaseURL, "llm-base-url", "", "a language model's service that is compatible with OpenAI's, up to its version (/v1)")
	flags.StringVar(&o.model.Model, "llm-model", "", "the model of that service")
	return cmd
}

func formatNames() []string { return slices.Sorted(maps.Keys(report.Formats())) }

// check returns an error if a flag is missing or out of range.
func (o testOptions) check() error {
	switch {
	case o.pathway == "":
		return errors.New("--pathway is required: the file of the pathway to test")
	case o.runs < 1 || o.runs > maxRuns:
		return fmt.Errorf("--runs must be from 1 to %d", maxRuns)
	case o.parallel < 1 || o.parallel > maxParallel:
		return fmt.Errorf("--parallel must be from 1 to %d", maxParallel)
	case report.Formats()[o.format] == nil:
		return fmt.Errorf("--format must be one of %s", strings.Join(formatNames(), ", "))
	case o.model.Model != "" && o.model.BaseURL == "":
		return errors.New("--llm-model requires --llm-base-url")
	}
	return nil
}

// test implements callwright test. If the report describes a failure, test returns an *exit with the report's exit code and no other error.
func test(cmd *cobra.Command, c Config, o testOptions, paths []string) error {
	if err := o.check(); err != nil {
		return err
	}
	g, err := readPathway(o.pathway)
	if err != nil {
		return err
	}
	scenarios, err := readScenarios(paths, o.only)
	if err != nil {
		return err
	}
	e, err := newEngine(c, o.model, g)
	if err != nil {
		return err
	}
	began := time.Now()
	r := report.Report{Name: filepath.Base(o.pathway), At: began}
	r.Scenarios, err = runAll(cmd.Context(), e, scenarios, o)
	if err != nil {
		return err
	}
	r.Took = time.Since(began)
	if err := write(cmd, r, o); err != nil {
		return err
	}
	if code := report.Exit(r); code != report.ExitPassed {
		return &exit{code: code}
	}
	return nil
}

// readPathway reads a pathway from a JSON file and compiles it.
func readPathway(name string) (*graph.Graph, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxPathway {
		return nil, fmt.Errorf("%s: must be a file of at most %d bytes", name, maxPathway)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Nodes []json.RawMessage `json:"nodes"`
		Edges []json.RawMessage `json:"edges"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("%s: must be a JSON object with nodes and edges: %w", name, err)
	}
	g, err := graph.Check(graph.Document{Nodes: doc.Nodes, Edges: doc.Edges}.Normalize())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return g, nil
}

// readScenarios reads the scenarios in files and folders. It returns the enabled scenarios whose names contain the value of --only,
// ignoring case. It returns an error if there is none, or if two of the scenarios read have the same name.
func readScenarios(paths []string, only string) ([]scenario.Scenario, error) {
	var all []scenario.Scenario
	for _, p := range paths {
		list, err := load(p)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	seen := map[string]bool{}
	for _, s := range all {
		if seen[s.Name] {
			return nil, fmt.Errorf("the name %q must be unique: two scenarios have it", s.Name)
		}
		seen[s.Name] = true
	}
	all = slices.DeleteFunc(all, func(s scenario.Scenario) bool {
		return !s.Enabled || !strings.Contains(strings.ToLower(s.Name), strings.ToLower(only))
	})
	switch {
	case len(all) > 0:
		return all, nil
	case only == "":
		return nil, errors.New("no scenario is enabled: at least one must be")
	default:
		return nil, fmt.Errorf("no enabled scenario has a name that contains %q, the text of --only", only)
	}
}

// load reads the scenarios in a file or a folder.
func load(name string) ([]scenario.Scenario, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	dir, base := name, "."
	if !info.IsDir() {
		dir, base = filepath.Split(name)
	}
	if dir == "" {
		dir = "."
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return suite.Load(root.FS(), base)
}

// newEngine returns an engine that runs scenarios against the pathway g.
func newEngine(c Config, o ModelOptions, g *graph.Graph) (*engine.Engine, error) {
	model, err := c.Model(o)
	if err != nil {
		return nil, err
	}
	walks, err := runner.New(runner.Config{Versions: single{g}})
	if err != nil {
		return nil, err
	}
	config := engine.Config{Runner: walks, Model: engine.NewLimiter(model, engine.LimiterConfig{}), Pricer: price.Default().Cost}
	if o.BaseURL != "" {
		config.Judge = c.Judge
	}
	return engine.New(config)
}

// single is a runner.Versions that contains one pathway.
type single struct{ graph *graph.Graph }

// LoadPinned returns the pathway for every id and version.
func (v single) LoadPinned(context.Context, callwright.OrgID, string, int) (*graph.Graph, error) {
	return v.graph, nil
}

// runAll runs the scenarios, up to o.parallel runs concurrently. In the report, interrupted runs are marked as cancelled. If runs cannot be
// executed, runAll returns the first of their errors.
func runAll(ctx context.Context, e *engine.Engine, scenarios []scenario.Scenario, o testOptions) ([]report.Scenario, error) {
	out := make([]report.Scenario, len(scenarios))
	var group sync.WaitGroup
	var failed sync.Once
	var failure error
	places := make(chan struct{}, o.parallel)
	for i, s := range scenarios {
		out[i] = report.Scenario{ID: s.ID, Name: s.Name, Category: s.Category, Asked: o.runs, Runs: make([]report.Run, o.runs)}
		for trial := range o.runs {
			places <- struct{}{}
			group.Go(func() {
				defer func() { <-places }()
				id := fmt.Sprintf("%s/%d", s.Name, trial+1)
				outcome, err := e.Run(ctx, engine.Case{Run: id, Scenario: s, Version: 1, Trial: trial})
				if err != nil {
					failed.Do(func() { failure = err })
				}
				out[i].Runs[trial] = report.NewRun(id, outcome)
			})
		}
	}
	group.Wait()
	return out, failure
}

// write writes the report. With --json it also prints the report as JSON if the report goes to a file. A file is written completely or not
// at all.
func write(cmd *cobra.Command, r report.Report, o testOptions) error {
	var text bytes.Buffer
	if err := report.Formats()[o.format](&text, r); err != nil {
		return err
	}
	if o.output == "-" {
		_, err := cmd.OutOrStdout().Write(text.Bytes())
		return err
	}
	if err := replace(o.output, text.Bytes()); err != nil || !asJSON(cmd) {
		return err
	}
	return report.Formats()[jsonFormat](cmd.OutOrStdout(), r)
}
