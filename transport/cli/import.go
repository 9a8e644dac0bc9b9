package cli

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/suite"
)

func importCommand(c Config, env func(string) string) *cobra.Command {
	var r remote
	var dry bool
	cmd := &cobra.Command{
		Use:   "import PATH...",
		Short: "Create and update the scenarios of a server from files",
		Long: "Reads scenarios as callwright test does, and makes those of a pathway or a persona like them: by their names, it creates\n" +
			"what is not there and changes what differs. Scenarios that are in no file stay. Nothing is changed if a file is wrong.",
		Example: "  callwright scenarios import scenarios --pathway 01932c1f-0b21-7f10-9a52-1e6a1b2c3d4e --dry-run",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			s, err := r.open(c, cmd, env)
			if err != nil {
				return err
			}
			return bringIn(cmd.Context(), cmd, s, paths, dry)
		},
	}
	r.addFlags(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "tell what would be changed, and change nothing")
	return cmd
}

// step is one change of an import: a scenario that is created or updated.
type step struct {
	name    string
	id      string         // empty if the scenario is to be created
	members []suite.Member // all members of a new scenario, or the members that differ
}

// bringIn creates and updates scenarios of a server to match the scenarios in files. It deletes no scenario. If dry is set, it only prints
// the planned changes.
func bringIn(ctx context.Context, cmd *cobra.Command, s *server, paths []string, dry bool) error {
	files, err := readAll(paths)
	if err != nil {
		return err
	}
	there, err := s.list(ctx)
	if err != nil {
		return err
	}
	steps, same, err := plan(files, there)
	if err != nil {
		return err
	}
	result := importedJSON{Changes: []changeJSON{}, Unchanged: same, DryRun: dry}
	for _, one := range steps {
		if !dry {
			if err = s.run(ctx, one); err != nil {
				err = fmt.Errorf("%s: %w; %d of %d changes were made: import again to make the others", one.name, err, len(result.Changes), len(steps))
				break
			}
		}
		result.Changes = append(result.Changes, one.change())
	}
	return errors.Join(show(cmd, result, func(w *tabwriter.Writer) {
		for i := range result.Changes {
			printf(w, "%s\n", steps[i].String(dry))
		}
		if err == nil {
			printf(w, "unchanged: %d\n", same)
		}
	}), err)
}

// importedJSON lists the changes of an import. If DryRun is set, the changes are only planned.
type importedJSON struct {
	Changes   []changeJSON `json:"changes"`
	Unchanged int          `json:"unchanged"`
	DryRun    bool         `json:"dry_run,omitempty"`
}

// changeJSON is the form in which --json prints a step.
type changeJSON struct {
	Name    string   `json:"name"`
	Action  string   `json:"action"` // "create" or "update"
	Members []string `json:"members,omitempty"`
}

// change returns the form in which --json prints the step.
func (s step) change() changeJSON {
	c := changeJSON{Name: s.name, Action: "create"}
	if s.id == "" {
		return c
	}
	c.Action = "update"
	for _, m := range s.members {
		c.Members = append(c.Members, m.Name)
	}
	return c
}

func (s *server) run(ctx context.Context, one step) error {
	if one.id == "" {
		return s.create(ctx, one.members)
	}
	return s.update(ctx, one.id, one.members)
}

// String describes the change. If dry is set, it describes a planned change.
func (s step) String(dry bool) string {
	verb := "created"
	if s.id != "" {
		verb = "updated"
	}
	if dry {
		verb = map[string]string{"created": "would create", "updated": "would update"}[verb]
	}
	if s.id == "" {
		return verb + ": " + s.name
	}
	return verb + ": " + s.name + " (" + strings.Join(s.change().Members, ", ") + ")"
}

// readAll reads the scenarios in files and folders, including disabled ones. It returns an error if two scenarios have the same name.
func readAll(paths []string) (all []stored, err error) {
	seen := map[string]bool{}
	for _, p := range paths {
		list, err := load(p)
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			if seen[one.Name] {
				return nil, fmt.Errorf("the name %q must be unique: two scenarios have it", one.Name)
			}
			seen[one.Name] = true
			members, err := suite.Members(one)
			if err != nil {
				return nil, err
			}
			all = append(all, stored{name: one.Name, members: members})
		}
	}
	return all, nil
}

// plan compares the scenarios in files with those on the server. It returns the necessary steps and the number of equal scenarios. It
// returns an error for a redacted value if the server has no value in its place.
func plan(files, there []stored) (steps []step, same int, err error) {
	byName := map[string]stored{}
	for _, one := range there {
		byName[one.name] = one
	}
	var faults []error
	for _, file := range files {
		have := byName[file.name]
		one := step{name: file.name, id: have.id}
		var lost []string
		shown, _ := concealed(have.members)
		for i, m := range file.members {
			var value, seen any
			if have.id != "" {
				value, seen = have.members[i].Value, shown[i].Value
			}
			m.Value = reveal(m.Value, value, seen, m.Name, &lost)
			if have.id == "" || !reflect.DeepEqual(m.Value, value) {
				one.members = append(one.members, m)
			}
		}
		switch {
		case len(lost) > 0:
			faults = append(faults, fmt.Errorf("%s: %s in %s stands for a value that the server does not have: replace it with the value, or remove the member",
				file.name, callwright.Redacted, strings.Join(lost, ", ")))
		case len(one.members) == 0:
			same++
		default:
			steps = append(steps, one)
		}
	}
	return steps, same, errors.Join(faults...)
}
