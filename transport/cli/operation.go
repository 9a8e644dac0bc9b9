package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/transport/client"
)

// operation describes a command that sends one request to the API and prints the answer.
type operation struct {
	use, short, long, example string

	args    cobra.PositionalArgs
	flags   func(cmd *cobra.Command)
	named   func(ctx context.Context, a *api, name string) (id string, err error) // if nil, the first argument is the id
	request func(cmd *cobra.Command, args []string) (client.Request, error)
	check   func(v value) error                // returns an error for data that mean a failure; may be nil
	text    func(w *tabwriter.Writer, v value) // prints the data of an answer as text
}

// command returns the cobra command for an operation.
func (o operation) command(c Config, env func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use: o.use, Short: o.short, Long: o.long, Example: o.example, Args: o.args, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, a, err := o.prepare(c, cmd, env, args)
			if err != nil {
				return err
			}
			raw, err := a.call(cmd.Context(), r)
			if err != nil {
				return err
			}
			if o.check != nil {
				if err := o.check(valueOf(dataOf(raw))); err != nil {
					return err
				}
			}
			return showAnswer(cmd, raw, o.text)
		},
	}
	if o.flags != nil {
		o.flags(cmd)
	}
	return cmd
}

// prepare returns the request of a command and the client for it. If named is nil, it checks the arguments before it looks for a key.
func (o operation) prepare(c Config, cmd *cobra.Command, env func(string) string, args []string) (client.Request, *api, error) {
	if o.named == nil {
		r, err := o.request(cmd, args)
		if err != nil {
			return r, nil, usage(err)
		}
		a, err := openAPI(c, cmd, env)
		return r, a, err
	}
	a, err := openAPI(c, cmd, env)
	if err != nil {
		return client.Request{}, nil, err
	}
	id, err := o.named(cmd.Context(), a, args[0])
	if err != nil {
		return client.Request{}, nil, err
	}
	r, err := o.request(cmd, append([]string{id}, args[1:]...))
	if err != nil {
		err = usage(err)
	}
	return r, a, err
}

// showAnswer prints the data of an answer: as JSON with --json, and otherwise by calling the function text.
func showAnswer(cmd *cobra.Command, raw json.RawMessage, text func(w *tabwriter.Writer, v value)) error {
	data := dataOf(raw)
	return show(cmd, data, func(w *tabwriter.Writer) { text(w, valueOf(data)) })
}

// dataOf returns the data in an answer's envelope. If the envelope has further members, it returns the envelope without "errors". An answer
// without an envelope is returned unchanged.
func dataOf(raw json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members["data"] == nil {
		return raw
	}
	if _, enveloped := members["errors"]; !enveloped {
		return raw
	}
	delete(members, "errors")
	if len(members) == 1 {
		return members["data"]
	}
	if rest, err := json.Marshal(members); err == nil {
		return rest
	}
	return raw
}

// value is a JSON value in an answer. v is nil if the value is absent.
type value struct{ v any }

func valueOf(raw json.RawMessage) value {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	_ = d.Decode(&v) // if the JSON is invalid, the value is absent
	return value{v}
}

// at returns the member at a path of names. If the value has no such member, the v of the result is nil.
func (v value) at(path ...string) value {
	for _, name := range path {
		object, _ := v.v.(map[string]any)
		v = value{object[name]}
	}
	return v
}

// list returns the items of a list. It returns an empty list for a value that is not a list.
func (v value) list() []value {
	items, _ := v.v.([]any)
	out := make([]value, len(items))
	for i, item := range items {
		out[i] = value{item}
	}
	return out
}

// String returns the value as text for a table, or a dash if it is absent or empty.
func (v value) String() string {
	switch x := v.v.(type) {
	case nil:
		return "-"
	case string:
		return cmp.Or(x, "-")
	case bool:
		return map[bool]string{true: "yes", false: "no"}[x]
	case json.Number:
		return rounded(x)
	case []any:
		var parts []string
		for _, item := range v.list() {
			parts = append(parts, item.String())
		}
		return cmp.Or(strings.Join(parts, " "), "-")
	default:
		raw, err := json.Marshal(x)
		if err != nil {
			return "-"
		}
		return string(raw)
	}
}

// rounded returns a number with at most two decimals. It returns numbers between -0.01 and 0.01 unchanged.
func rounded(n json.Number) string {
	f, err := n.Float64()
	if err != nil || !strings.Contains(n.String(), ".") || math.Abs(f) < 0.01 {
		return n.String()
	}
	return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64)
}

// column is a column of a table. member is the path of the shown value, with dots.
type column struct{ title, member string }

// columns returns columns from texts of the form "TITLE=member".
func columns(pairs ...string) []column {
	var out []column
	for _, pair := range pairs {
		title, member, _ := strings.Cut(pair, "=")
		out = append(out, column{title, member})
	}
	return out
}

// table prints a list as a table. For an empty list it prints "no" and the parameter what, such as "no calls".
func table(w *tabwriter.Writer, items []value, what string, of []column) {
	if len(items) == 0 {
		printf(w, "no %s\n", what)
		return
	}
	titles := make([]string, len(of))
	for i, c := range of {
		titles[i] = c.title
	}
	_, _ = fmt.Fprintln(w, strings.Join(titles, "\t")) // Flush returns write errors
	for _, item := range items {
		cells := make([]string, len(of))
		for i, c := range of {
			cells[i] = visible(strings.ReplaceAll(item.at(strings.Split(c.member, ".")...).String(), "\n", " "), "")
		}
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
}

// fields prints the columns whose members a record contains, one per line.
func fields(w *tabwriter.Writer, record value, of []column) {
	for _, c := range of {
		if v := record.at(strings.Split(c.member, ".")...); v.v != nil {
			lined(w, c.title, v.String())
		}
	}
}

// lined prints a title and a text. Further lines of the text are printed below its first line.
func lined(w *tabwriter.Writer, title, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\r\n"), "\n") {
		printf(w, "%s\t%s\n", title, strings.TrimSuffix(line, "\r"))
		title = ""
	}
}

// paged adds the flags --limit and --cursor to a command.
func paged(cmd *cobra.Command) {
	cmd.Flags().Int("limit", 0, "list at most this many (default: the server's)")
	cmd.Flags().String("cursor", "", "the `cursor` of the next page, which a page ends with")
}

// query returns the query parameters for the flags that were given. A name is a flag, or "flag=parameter" if the names differ; hyphens
// become underscores.
func query(cmd *cobra.Command, names ...string) url.Values {
	out := url.Values{}
	for _, name := range names {
		flag, parameter, renamed := strings.Cut(name, "=")
		f := cmd.Flags().Lookup(flag)
		if !f.Changed {
			continue
		}
		if !renamed {
			parameter = strings.ReplaceAll(flag, "-", "_")
		}
		if several, err := cmd.Flags().GetStringSlice(flag); err == nil {
			out[parameter] = several
			continue
		}
		out.Set(parameter, f.Value.String())
	}
	return out
}

// next prints the cursor of the next page, if there is one.
func next(w *tabwriter.Writer, v value) {
	if cursor := v.at("next_cursor"); cursor.v != nil {
		printf(w, "\nmore: --cursor %s\n", cursor.String())
	}
}
