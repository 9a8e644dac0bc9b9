package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// print prints a value as JSON, or as text does. Strangers have written some of the texts: what a terminal would obey, or not show, is
// escaped in both.
func (p *portsCommands) print(cmd *cobra.Command, v any, text func(w *tabwriter.Writer)) error {
	if p.asJSON {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return err
		}
		_, err := io.WriteString(cmd.OutOrStdout(), visible(b.String(), "\n"))
		return err
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	text(w)
	return w.Flush()
}

// printf prints to a table, whose Flush returns the error. Texts among args are visible.
func printf(w *tabwriter.Writer, format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = visible(text, "")
		}
	}
	_, _ = fmt.Fprintf(w, format, args...)
}

// visible returns a text in which those control and format characters are escaped as in JSON that are not among kept.
func visible(text, kept string) string {
	var b strings.Builder
	for _, c := range strings.ToValidUTF8(text, "\ufffd") {
		if !callwright.Hidden(c) || strings.ContainsRune(kept, c) {
			b.WriteRune(c)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, c) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// checkText checks a text of an operator that is stored.
func checkText(flag, text string) error {
	switch {
	case len(text) > porting.MaxRaw:
		return fmt.Errorf("%s must have at most %d bytes", flag, porting.MaxRaw)
	case strings.ContainsFunc(text, callwright.Hidden):
		return fmt.Errorf("%s must not have control or format characters", flag)
	}
	return nil
}
