package graph

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/internal/tree"
	"github.com/callwright/callwright/agents/template"
)

// fields reads the members of an object, and reports errors at their paths. A member that is null counts as absent. The methods return the
// zero value for a member that is absent or invalid.
type fields struct {
	errs *errorList
	path path
	of   tree.Value
}

// path is the path of an object in a document. Its text is built only for errors.
type path struct {
	list   string // name of the list, for example nodes; if empty, within is the whole path
	i      int
	within string // path within the list's entry, for example data.tag; empty means the entry itself
}

// at returns the path of a member. An empty name means the object itself.
func (p path) at(name string) path {
	switch {
	case p.within == "":
		p.within = name
	case name != "":
		p.within += "." + name
	}
	return p
}

func (p path) String() string {
	switch {
	case p.list == "":
		return p.within
	case p.within == "":
		return Entry(p.list, p.i)
	default:
		return Entry(p.list, p.i) + "." + p.within
	}
}

// at returns the path of a member as text. An empty name means the object itself.
func (f fields) at(name string) string { return f.path.at(name).String() }

// errorf reports an error of a member. An empty name means the object itself.
func (f fields) errorf(name, format string, args ...any) { f.errs.addf(f.at(name), format, args...) }

// get returns a member that has one of the kinds. It reports a member of another kind. For a missing or invalid member it returns the zero
// Value.
func (f fields) get(name string, kinds ...tree.Kind) tree.Value {
	v := f.of.Get(name)
	if v.Kind <= tree.Null {
		return tree.Value{}
	}
	if !slices.Contains(kinds, v.Kind) {
		names := make([]string, len(kinds))
		for i, k := range kinds {
			names[i] = k.String()
		}
		f.errorf(name, "must be %s, not %s", strings.Join(names, " or "), v.Kind)
		return tree.Value{}
	}
	return v
}

// text returns a string member. It reports a text that exceeds the given number of characters.
func (f fields) text(name string, longest int) string {
	v := f.get(name, tree.String)
	text := v.Text()
	if callwright.Longer(text, longest) {
		f.errorf(name, "must have at most %d characters", longest)
		return ""
	}
	return text
}

// need returns a string member. It also reports a missing or empty text.
func (f fields) need(name string, longest int) string {
	text := f.text(name, longest)
	if text == "" {
		f.errorf(name, "is required")
	}
	return text
}

// template returns a string member as a template, or nil if the text is blank.
func (f fields) template(name string, longest int) *template.Template {
	text := f.text(name, longest)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return template.Parse(text)
}

// flag returns a boolean member.
func (f fields) flag(name string) bool {
	v := f.get(name, tree.Boolean)
	return v.True()
}

// number returns a number member, or nil if it is absent. It reports a number outside the given range.
func (f fields) number(name string, low, high float64) *float64 {
	v := f.get(name, tree.Number)
	if v.Kind == tree.Absent {
		return nil
	}
	n := v.Float()
	if n < low || n > high {
		f.errorf(name, "must be from %v to %v", low, high)
		return nil
	}
	return &n
}

// object returns the fields of an object member. If the member is absent, the result has no fields.
func (f fields) object(name string) fields {
	return fields{f.errs, f.path.at(name), f.get(name, tree.Object)}
}

// list returns the items of an array member. It reports a list that exceeds the given number of items.
func (f fields) list(name string, longest int) []tree.Member {
	v := f.get(name, tree.Array)
	if len(v.Members) > longest {
		f.errorf(name, "must have at most %d items", longest)
		return nil
	}
	return v.Members
}

// first returns the first of the names that is present, or the first name if none is present.
func (f fields) first(names ...string) string {
	for _, name := range names {
		if v := f.of.Get(name); v.Kind > tree.Null {
			return name
		}
	}
	return names[0]
}

// word returns the text of a string, a number or a boolean at a path. It reports a value of another kind.
func (f fields) word(path string, v tree.Value) string {
	switch v.Kind {
	case tree.String:
		return v.Text()
	case tree.Number, tree.Boolean:
		return v.Raw
	case tree.Absent:
		f.errs.addf(path, "is required, and must be a string, a number or a boolean")
		return ""
	default:
		f.errs.addf(path, "must be a string, a number or a boolean, not %s", v.Kind)
		return ""
	}
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,127}$`)

// variable reports an invalid name of a variable at a path.
func (f fields) variable(path, name string) {
	switch {
	case name == "":
		f.errs.addf(path, "is required")
	case !variableName.MatchString(name):
		f.errs.addf(path, "must be a variable name: a letter or _, then letters, digits, _, . and -, at most 128 characters")
	}
}

// adopt reports an error that another package found in the object. rename converts the error's field to the name of a member.
func (f fields) adopt(err error, rename func(field string) string) {
	found, ok := errors.AsType[*callwright.Error](err)
	if !ok {
		found = callwright.Invalid("", "is invalid")
	}
	f.errorf(rename(found.Field), "%s", found.Message)
}
