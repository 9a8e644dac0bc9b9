package storetest

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// Why is the reason why a text is sealed or stored in plain text. docs/operations.md, "What is encrypted in the database", states the rule.
type Why string

// Sealed marks texts that may give access or prove an identity, and documents that may contain such texts.
const Sealed Why = "sealed"

// Reasons why a text may be stored in plain text.
const (
	Key     Why = "names a row, the organization that it belongs to, a person or another row, which queries look for"
	State   Why = "a word, number or reason of the server's own, which queries and pages read"
	Hash    Why = "a hash or the beginning of a key, which gives nobody access"
	Label   Why = "what customers call a thing, by which people look for it"
	Route   Why = "a number or host, with which calls and messages find their way, and by which they are looked for"
	Talk    Why = "what an agent is told to do, hears and says, and what is written about it, which people search, read and export"
	Setting Why = "settings, whose credentials are in a sealed column beside them"
	Moved   Why = "of earlier releases: it is in a sealed column since, and read from here until the row is written again"
)

// CheckMembers checks that stated lists each member of a document that may contain text exactly once, and no others. stated maps each
// reason to members, separated by spaces.
func CheckMembers(t testing.TB, document string, of reflect.Type, stated map[Why]string) {
	t.Helper()
	listed := map[string]int{}
	for _, members := range stated {
		for member := range strings.FieldsSeq(members) {
			listed[member]++
		}
	}
	for _, member := range TextMembers(of) {
		if listed[member] != 1 {
			t.Errorf("%s: the member %s is listed %d times: why is it not sealed? See docs/operations.md", document, member, listed[member])
		}
		delete(listed, member)
	}
	for member := range listed {
		t.Errorf("%s: the member %s is listed, and there is none", document, member)
	}
}

// TextMembers returns the sorted paths of the members that may contain text in the JSON of a type. The path of the items of a list ends
// with "[]", and the path of the keys and values of a map with ".*". The path of the whole value is "$".
func TextMembers(of reflect.Type) []string {
	var paths []string
	walkTexts(of, "", nil, func(path string) { paths = append(paths, path) })
	slices.Sort(paths)
	return slices.Compact(paths)
}

// walkTexts calls visit for the path of each text in a type. around contains the enclosing types. A type within itself, and time.Time, are
// not visited.
func walkTexts(of reflect.Type, path string, around []reflect.Type, visit func(path string)) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if slices.Contains(around, of) || of == reflect.TypeFor[time.Time]() {
		return
	}
	around = append(slices.Clone(around), of)
	here := func() {
		if path == "" {
			path = "$"
		}
		visit(path)
	}
	if writesItself(of) {
		here()
		return
	}
	switch of.Kind() {
	case reflect.String, reflect.Interface:
		here()
	case reflect.Slice, reflect.Array:
		if of.Elem().Kind() == reflect.Uint8 {
			here() // encoded as base64 text
			return
		}
		walkTexts(of.Elem(), path+"[]", around, visit)
	case reflect.Map:
		before := path
		path = strings.TrimPrefix(path+".*", ".")
		here()
		walkTexts(of.Elem(), strings.TrimPrefix(before+".*", "."), around, visit)
	case reflect.Struct:
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			switch {
			case name == "-" || !field.IsExported() && !field.Anonymous:
			case field.Anonymous && name == "":
				walkTexts(field.Type, path, around, visit)
			case name == "":
				walkTexts(field.Type, strings.TrimPrefix(path+"."+field.Name, "."), around, visit)
			default:
				walkTexts(field.Type, strings.TrimPrefix(path+"."+name, "."), around, visit)
			}
		}
	default: // numbers and booleans contain no text
	}
}

// writesItself reports whether a type encodes its own JSON, which may then contain any text.
func writesItself(of reflect.Type) bool {
	p := reflect.PointerTo(of)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}
