package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/suite"
)

func exportCommand(c Config, env func(string) string) *cobra.Command {
	var r remote
	var folder string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the scenarios of a server to files",
		Long: "Writes each scenario of a pathway or a persona to a YAML file that is named after it. A file of that name is replaced,\n" +
			"other files stay. What looks like a credential is written as " + callwright.Redacted + ": import leaves it as the server has it.",
		Example: "  callwright scenarios export --pathway 01932c1f-0b21-7f10-9a52-1e6a1b2c3d4e --dir scenarios",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := r.open(c, cmd, env)
			if err != nil {
				return err
			}
			return export(cmd.Context(), cmd, s, folder)
		},
	}
	r.addFlags(cmd)
	cmd.Flags().StringVar(&folder, "dir", "scenarios", "the `folder` of the files, which is created if it does not exist")
	return cmd
}

// export writes each scenario of the chosen pathway or persona to a file in a folder. It omits values that look like credentials, and
// prints a notice for them.
func export(ctx context.Context, cmd *cobra.Command, s *server, folder string) error {
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return callwright.Errorf(callwright.CodeNotFound, "the %s has no scenarios that this key may read: check the id", s.tested())
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // files beside an application's code
		return err
	}
	slices.SortFunc(all, func(a, b stored) int { return strings.Compare(a.name, b.name) })
	taken := map[string]bool{}
	written := []exportedJSON{}
	for _, one := range all {
		members, places := concealed(one.members)
		text, err := suite.Format(members)
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		name := filepath.Join(folder, fileName(one.name, taken))
		if err := replace(name, text); err != nil {
			return err
		}
		written = append(written, exportedJSON{name, one.name, places})
		if len(places) > 0 {
			notice(cmd, "%s: looks like a credential, and is not written: %s", name, strings.Join(places, ", "))
		}
	}
	return show(cmd, written, func(w *tabwriter.Writer) {
		for _, one := range written {
			printf(w, "%s\n", one.File)
		}
	})
}

// exportedJSON describes a file that export has written.
type exportedJSON struct {
	File      string   `json:"file"`
	Name      string   `json:"name"`
	Concealed []string `json:"concealed,omitempty"` // places of values that look like credentials and are not written
}

const longestName = 60 // characters of a file name before its suffix

// fileName derives a file name from the name of a scenario. The file name is unique within the export; fileName adds it, without the
// suffix, to the set taken.
func fileName(scenario string, taken map[string]bool) string {
	words := strings.FieldsFunc(strings.ToLower(scenario), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	letters := []rune(strings.Join(words, "-"))
	base := strings.Trim(string(letters[:min(len(letters), longestName)]), "-")
	if base == "" {
		base = "scenario"
	}
	name := base
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	taken[name] = true
	return name + ".yaml"
}
