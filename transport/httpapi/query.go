package httpapi

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ogen-go/ogen/middleware"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
)

// withLowerIDs returns a URL whose UUIDs are in lower case. It changes only UUIDs that are a whole path segment or a whole value of the
// query.
func withLowerIDs(u *url.URL) *url.URL {
	lower := *u
	segments := strings.Split(u.Path, "/")
	for i, segment := range segments {
		segments[i] = wire.ID(segment)
	}
	lower.Path = strings.Join(segments, "/")
	if lower.Path != u.Path && u.RawPath != "" {
		lower.RawPath = "" // EscapedPath derives it from Path
	}
	pairs := strings.Split(u.RawQuery, "&")
	for i, pair := range pairs {
		if name, value, ok := strings.Cut(pair, "="); ok {
			pairs[i] = name + "=" + wire.ID(value)
		}
	}
	lower.RawQuery = strings.Join(pairs, "&")
	return &lower
}

// checkQuery refuses query parameters that the operation does not declare. It returns an error for each of them.
func checkQuery(u *url.URL, declared middleware.Parameters) error {
	given, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return callwright.Invalid("", "the query of the URL is malformed: it must be name=value pairs, separated by &, with other special characters escaped")
	}
	var known []string
	for key := range declared {
		if key.In == "query" {
			known = append(known, key.Name)
			delete(given, key.Name)
		}
	}
	slices.Sort(known)
	var errs callwright.FieldErrors
	for name := range given {
		errs = append(errs, unknownParameter(name, known))
	}
	slices.SortFunc(errs, func(a, b *callwright.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs.OrNil()
}

// maxName is the length, in bytes, to which unknown parameter names are clipped before they are compared and quoted.
const maxName = 100

func unknownParameter(name string, known []string) *callwright.Error {
	if name == "" {
		return callwright.Invalid("", "each parameter of the query must have a name")
	}
	name = callwright.Clip(name, maxName)
	if near := nearest(name, known); near != "" {
		return callwright.Invalid(name, "is not a known parameter; did you mean %s?", strconv.Quote(near))
	}
	return callwright.Invalid(name, "is not a known parameter")
}

// nearest returns the known name most similar to name. The two may differ in at most two letters, and in less than half of the letters.
// nearest ignores case, underscores and dashes. It returns an empty text if no known name is similar.
func nearest(name string, known []string) string {
	plain := strings.NewReplacer("_", "", "-", "", "[]", "")
	name = plain.Replace(strings.ToLower(name))
	least, found := 3, ""
	for _, candidate := range known {
		letters := plain.Replace(candidate)
		if d := distance(name, letters); d < least && 2*d < len(letters) {
			least, found = d, candidate
		}
	}
	return found
}

// distance returns the minimum number of letters to add, remove or replace to change one word into the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
