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

// Why is the protection of a text at rest. The rule is in docs/operations.md, "What is encrypted in the database".
type Why string

// Sealed texts give or may give access, prove an identity, or are documents that may contain such a text.
const Sealed Why = "sealed"

// Reasons why a text is plain.
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

// CheckMembers compares the members of a document that may hold text with the stated ones, which are separated by spaces, by
// reason.
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

// TextMembers returns the paths of members that may contain text in the JSON of a type, in their order. Items of a list have the path of the list
// with [], values of a map that with a point and an asterisk, which stands for its keys as well; the path of the whole is $.
func TextMembers(of reflect.Type) []string {
	var paths []string
	walkTexts(of, "", nil, func(path string) { paths = append(paths, path) })
	slices.Sort(paths)
	return slices.Compact(paths)
}

// walkTexts visits the texts of a type. around are the types that it is a part of: one within itself is not entered again.
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
			here() // in Base64
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
	default: // numbers and truth values
	}
}

// writesItself reports whether a type writes its own JSON: any text, as far as is known here.
func writesItself(of reflect.Type) bool {
	p := reflect.PointerTo(of)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}
