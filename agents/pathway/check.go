package pathway

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway/internal/tree"
	"github.com/callwright/callwright/agents/template"
)

// fields reads the members of an object and notes as faults what is not as it must be. A member that is null counts as
// absent. The zero value of what was asked for stands for what is absent or at fault.
type fields struct {
	c    *compiler
	path path
	of   tree.Value
}

// path is where an object stands in a document. Its text is made only of what is at fault.
type path struct {
	list   string // such as nodes; empty: within is all of the path
	i      int
	within string // the entry of the list, such as data.tag; empty: the entry itself
}

// at is the path of a member; the object's own for no name.
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
		return entry(p.list, p.i)
	default:
		return entry(p.list, p.i) + "." + p.within
	}
}

// at is the path of a member; the object's own for no name.
func (f fields) at(name string) string { return f.path.at(name).String() }

// get is a member of one of some kinds; Absent for none.
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
		f.c.faultf(f.at(name), "must be %s, not %s", strings.Join(names, " or "), v.Kind)
		return tree.Value{}
	}
	return v
}

// text is a text of at most longest characters.
func (f fields) text(name string, longest int) string {
	v := f.get(name, tree.String)
	text := v.Text()
	if len(text) > longest && utf8.RuneCountInString(text) > longest {
		f.c.faultf(f.at(name), "must not have more than %d characters", longest)
		return ""
	}
	return text
}

// need is a text that must be there.
func (f fields) need(name string, longest int) string {
	text := f.text(name, longest)
	if text == "" {
		f.c.faultf(f.at(name), "is missing")
	}
	return text
}

// template is a text with variables; nil where there is nothing but blanks.
func (f fields) template(name string, longest int) *template.Template {
	text := f.text(name, longest)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return template.Parse(text)
}

// flag is a boolean.
func (f fields) flag(name string) bool {
	v := f.get(name, tree.Boolean)
	return v.True()
}

// number is a number within bounds; nil where there is none.
func (f fields) number(name string, low, high float64) *float64 {
	v := f.get(name, tree.Number)
	if v.Kind == tree.Absent {
		return nil
	}
	n := v.Float()
	if n < low || n > high {
		f.c.faultf(f.at(name), "must be from %v to %v", low, high)
		return nil
	}
	return &n
}

// object is an object; one without members where there is none.
func (f fields) object(name string) fields {
	return fields{f.c, f.path.at(name), f.get(name, tree.Object)}
}

// list is the items of a list of at most longest.
func (f fields) list(name string, longest int) []tree.Member {
	v := f.get(name, tree.Array)
	if len(v.Members) > longest {
		f.c.faultf(f.at(name), "must not be more than %d", longest)
		return nil
	}
	return v.Members
}

// first is the first of some members that is there.
func (f fields) first(names ...string) string {
	for _, name := range names {
		if v := f.of.Get(name); v.Kind > tree.Null {
			return name
		}
	}
	return names[0]
}

// faults notes what another package has found wrong with a part of the object, under the names that the part has here.
func (f fields) faults(err error, rename func(field string) string) {
	fault, ok := errors.AsType[*callwright.Error](err)
	if !ok {
		fault = callwright.Invalid("", "can't be used")
	}
	f.c.faultf(f.at(rename(fault.Field)), "%s", fault.Message)
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,127}$`)

// variable checks the name of a variable, which stands at a member.
func (c *compiler) variable(at func(member string) string, member, name string) {
	switch {
	case name == "":
		c.faultf(at(member), "is missing")
	case !variableName.MatchString(name):
		c.faultf(at(member), "must be a variable's name: letters, digits, _ . and -, not beginning with a digit, at most 128")
	}
}
