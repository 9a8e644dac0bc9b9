// Package tree parses JSON and keeps its spelling. It provides access to kinds, members and texts without decoding into maps, and writes a
// canonical form.
package tree

import (
	"slices"
	"strconv"
	"strings"
)

// Kind is the type of a JSON value.
type Kind byte

// The types of JSON values. The zero Value is Absent.
const (
	Absent Kind = iota
	Null
	Boolean
	Number
	String
	Array
	Object
)

// String returns the kind in words, for example "an array".
func (k Kind) String() string {
	return [...]string{"nothing", "null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// Value is a JSON value. Copies share immutable memory: Set and DeleteFunc change only the Value on which they are called.
type Value struct {
	Kind    Kind
	Raw     string   // as written, without surrounding white space; unchanged by Set and DeleteFunc
	Members []Member // members of an Object or items of an Array, as written; names may repeat
}

// Member is a member of an object, or an item of an array, which has no name.
type Member struct {
	Name string
	Value
}

// Get returns a member of an object, or the zero Value if it is absent. Of several members with the same name it returns the last, as
// encoding/json does.
func (v *Value) Get(name string) Value {
	if m := v.find(name); m != nil {
		return *m
	}
	return Value{}
}

// Items returns the items of an Array, and nil for any other kind.
func (v *Value) Items() []Member {
	if v.Kind != Array {
		return nil
	}
	return v.Members
}

// find returns the last member with the given name, or nil if there is none.
func (v *Value) find(name string) *Value {
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Members[i].Name == name {
			return &v.Members[i].Value
		}
	}
	return nil
}

// Set sets a member of an object. It replaces the last member with the same name, or appends a new member.
func (v *Value) Set(name string, to Value) {
	v.Members = slices.Clone(v.Members)
	if m := v.find(name); m != nil {
		*m = to
		return
	}
	v.Members = append(v.Members, Member{name, to})
}

// DeleteFunc deletes the members of an object for whose names the given function returns true.
func (v *Value) DeleteFunc(fits func(name string) bool) {
	gone := func(m Member) bool { return fits(m.Name) }
	if slices.ContainsFunc(v.Members, gone) {
		v.Members = slices.DeleteFunc(slices.Clone(v.Members), gone)
	}
}

// Text returns the text of a String, without escapes. It is empty for any other kind.
func (v *Value) Text() string {
	if v.Kind != String {
		return ""
	}
	return unquote(v.Raw)
}

// True reports whether the value is true.
func (v *Value) True() bool { return v.Kind == Boolean && v.Raw == "true" }

// Float returns the value of a Number as a float64, and 0 for any other kind. A number that is too large becomes an infinity.
func (v *Value) Float() float64 {
	if v.Kind != Number {
		return 0
	}
	n, _ := strconv.ParseFloat(v.Raw, 64)
	return n
}

// Append appends the value as JSON, without white space between the members of objects and arrays. Values other than objects and arrays
// keep their original spelling. Absent becomes null.
func (v *Value) Append(to []byte) []byte {
	switch v.Kind {
	case Object:
		to = append(to, '{')
		for i := range v.Members {
			to = append(appendText(separate(to, i), v.Members[i].Name), ':')
			to = v.Members[i].Append(to)
		}
		return append(to, '}')
	case Array:
		to = append(to, '[')
		for i := range v.Members {
			to = v.Members[i].Append(separate(to, i))
		}
		return append(to, ']')
	case Absent:
		return append(to, "null"...)
	default:
		return append(to, v.Raw...)
	}
}

// AppendCanonical appends the value in canonical form: members are sorted by the bytes of their names and unique (the last one counts),
// without white space or needless escapes, and numbers have their shortest form.
func (v *Value) AppendCanonical(to []byte) []byte {
	switch v.Kind {
	case Object:
		return v.appendSorted(to)
	case Array:
		to = append(to, '[')
		for i := range v.Members {
			to = v.Members[i].AppendCanonical(separate(to, i))
		}
		return append(to, ']')
	case String:
		if strings.IndexByte(v.Raw, '\\') < 0 {
			return append(to, v.Raw...)
		}
		var room [1 << 10]byte
		return appendText(to, appendUnquoted(room[:0], v.Raw))
	case Number:
		return appendNumber(to, v.Raw)
	default:
		return v.Append(to)
	}
}

// appendSorted appends an object in canonical form.
func (v *Value) appendSorted(to []byte) []byte {
	var few [24]int // suffices for most objects without an allocation
	order := few[:0]
	for i := range v.Members {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(v.Members[a].Name, v.Members[b].Name) })
	to = append(to, '{')
	written := 0
	for i, at := range order {
		m := &v.Members[at]
		if i+1 < len(order) && v.Members[order[i+1]].Name == m.Name {
			continue
		}
		to = append(appendText(separate(to, written), m.Name), ':')
		to = m.AppendCanonical(to)
		written++
	}
	return append(to, '}')
}

// separate appends a comma, except before the first element, for which i is 0.
func separate(to []byte, i int) []byte {
	if i > 0 {
		return append(to, ',')
	}
	return to
}

// appendNumber appends an integer of up to 15 digits unchanged, and any other number in the shortest form that has the same float64. A
// number that is too large for a float64 also stays unchanged.
func appendNumber(to []byte, raw string) []byte {
	if len(raw) <= 15 && strings.Trim(raw, "0123456789") == "" {
		return append(to, raw...)
	}
	n, err := strconv.ParseFloat(raw, 64)
	switch {
	case err != nil: // too large for a float64
		return append(to, raw...)
	case n == 0:
		return append(to, '0')
	default:
		return strconv.AppendFloat(to, n, 'g', -1, 64)
	}
}

// appendText appends a text in quotes, with the escapes that JSON requires (RFC 8259, section 7).
func appendText[T string | []byte](to []byte, text T) []byte {
	to = append(to, '"')
	start := 0
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		to = append(to, text[start:i]...)
		if c < ' ' {
			to = append(to, '\\', 'u', '0', '0', "01"[c>>4], "0123456789abcdef"[c&15])
		} else {
			to = append(to, '\\', c)
		}
		start = i + 1
	}
	return append(append(to, text[start:]...), '"')
}
