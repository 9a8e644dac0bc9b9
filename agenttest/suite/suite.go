// Package suite reads scenarios from files and writes them. A team can store its expectations of an agent with the code of its application,
// and review them like code.
//
// A file is YAML or JSON: one scenario, a list of scenarios, or an object with the member scenarios. The members of a scenario are those of
// POST /v1/agent-testing/scenarios in the contract, without pathway_id and persona_id: the program that runs the tests sets the tested
// agent.
package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/scenario"
)

// These constants limit a suite.
const (
	MaxFile      = 1 << 20 // bytes of a file
	MaxScenarios = 1000    // in all files together
)

// tested is the placeholder for the tested agent, which files do not name.
const tested = "pathway"

// Load reads scenarios from files, and from folders with their subfolders. In folders, it reads the files that end in .yaml, .yml or .json,
// in the order of their names. The error lists every fault of every file with its position, such as "orders.yaml:12:7:
// scenarios[1].assertions[0].config.pattern: ..." with line and column.
//
// The ID of a scenario is its name, which must be unique. Scenarios are enabled by default.
func Load(files fs.FS, names ...string) ([]scenario.Scenario, error) {
	var paths []string
	for _, name := range names {
		found, err := find(files, name)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	var all []scenario.Scenario
	var wrong []error
	seen := map[string]string{}
	for _, p := range paths {
		list, err := read(files, p)
		if err != nil {
			wrong = append(wrong, err)
		}
		for _, s := range list {
			if other, taken := seen[s.Name]; taken {
				wrong = append(wrong, fmt.Errorf("%s: the name %q must be unique: a scenario in %s has the same name", p, s.Name, other))
			}
			seen[s.Name] = p
		}
		if all = append(all, list...); len(all) > MaxScenarios {
			return nil, fmt.Errorf("%s: a suite can have at most %d scenarios", p, MaxScenarios)
		}
	}
	if len(paths) == 0 {
		return nil, errors.New("no file ends in .yaml, .yml or .json: name files or folders with scenarios")
	}
	return all, errors.Join(wrong...)
}

// find returns the paths of the scenario files at a name, which is a file or a folder.
func find(files fs.FS, name string) (found []string, err error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	switch {
	case !info.IsDir() && ofScenarios(name):
		return []string{name}, nil
	case !info.IsDir():
		return nil, fmt.Errorf("%s: must end in .yaml, .yml or .json, or be a folder", name)
	}
	err = fs.WalkDir(files, name, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && ofScenarios(p) {
			found = append(found, p)
		}
		return err
	})
	return found, err
}

// ofScenarios reports whether the extension of a file name is that of a scenario file.
func ofScenarios(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(name)))
}

// read returns the scenarios of a file.
func read(files fs.FS, name string) ([]scenario.Scenario, error) {
	switch info, err := fs.Stat(files, name); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // opening a pipe would block
		return nil, fmt.Errorf("%s: must be a regular file", name)
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(text) > MaxFile:
		return nil, fmt.Errorf("%s: must have at most %d bytes", name, MaxFile)
	}
	list, err := Parse(text)
	if err == nil {
		return list, nil
	}
	if several, ok := errors.AsType[faults](err); ok {
		var all []error
		for _, one := range several.list {
			all = append(all, fmt.Errorf("%s:%w", name, one))
		}
		return nil, errors.Join(all...)
	}
	if one, ok := errors.AsType[placed](err); ok {
		return nil, fmt.Errorf("%s:%w", name, one)
	}
	return nil, fmt.Errorf("%s: %w", name, err)
}

// Parse returns the scenarios of a text in YAML or JSON. If the scenarios are invalid, the error wraps callwright.FieldErrors. Each line of
// its text begins with the line and the column of a fault.
func Parse(text []byte) ([]scenario.Scenario, error) {
	d, err := readDocument(text)
	if err != nil {
		return nil, err
	}
	raw := d.json
	if !bytes.HasPrefix(raw, []byte("{")) && !bytes.HasPrefix(raw, []byte("[")) {
		return nil, errors.New("must be a scenario, a list of scenarios, or an object with a member \"scenarios\"")
	}
	items, place := []json.RawMessage{raw}, "%.0d"
	switch {
	case bytes.HasPrefix(raw, []byte("[")):
		err, place = json.Unmarshal(raw, &items), "[%d]"
	case holdsList(raw):
		var file struct {
			Scenarios []json.RawMessage `json:"scenarios"`
		}
		err, place = scenario.Strictly(raw, &file), "scenarios[%d]"
		items = file.Scenarios
	}
	if err != nil {
		return nil, d.locate(within("", err))
	}
	var all []scenario.Scenario
	var wrong callwright.FieldErrors
	for i, item := range items {
		s, err := parse(item)
		if err != nil {
			wrong = append(wrong, within(fmt.Sprintf(place, i), err)...)
		}
		all = append(all, s)
	}
	if len(items) == 0 {
		wrong = append(wrong, callwright.Invalid("scenarios", "must contain at least one scenario"))
	}
	return all, d.locate(wrong)
}

// within returns the errors of a scenario with place prepended to their fields.
func within(place string, err error) callwright.FieldErrors {
	list, _ := errors.AsType[callwright.FieldErrors](err)
	if place == "" {
		return list
	}
	return list.Within(place)
}

// holdsList reports whether JSON is an object with the member scenarios.
func holdsList(raw json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(raw, &members) == nil && members["scenarios"] != nil
}

// members lists the members of a scenario in a file, in a readable order.
var members = []string{
	"name", "description", "category", "scenario_type", "tester_persona_prompt", "tester_persona_name", "advanced_instructions",
	"input_messages", "max_turns", "start_node_id", "request_data", "webhook_mocks", "assertions", "min_score", "service_tone_enabled",
	"is_required_for_promotion", "enabled", "metadata",
}

// parse decodes, completes and checks a scenario.
func parse(raw json.RawMessage) (scenario.Scenario, error) {
	s, err := scenario.Decode(raw)
	if err != nil {
		return s, err
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return s, err
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(members, func(member string) bool { return strings.EqualFold(member, name) }) {
			return s, callwright.FieldErrors{callwright.Invalid(name, "unknown field %q", name)}
		}
	}
	s.ID, s.Pathway = s.Name, tested
	for i := range s.Assertions {
		if s.Assertions[i].Config == nil {
			s.Assertions[i].Config = json.RawMessage(`{}`)
		}
	}
	n := 0
	s.SetDefaults(func() string { n++; return fmt.Sprint("assertion-", n) })
	return s, s.Check()
}
