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

// withLowerIDs returns a URL whose UUIDs, each a whole segment of the path or a whole value of the query, are in lower case.
func withLowerIDs(u *url.URL) *url.URL {
	lower := *u
	segments := strings.Split(u.Path, "/")
	for i, segment := range segments {
		segments[i] = wire.ID(segment)
	}
	lower.Path = strings.Join(segments, "/")
	if lower.Path != u.Path && u.RawPath != "" {
		lower.RawPath = "" // EscapedPath makes it again
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

// checkQuery refuses parameters in the query that the operation does not have.
func checkQuery(u *url.URL, declared middleware.Parameters) error {
	given, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return callwright.Invalid("", "the query of the URL can't be understood")
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

// maxName bounds the parameter names that errors quote and that are compared with the operation's names, in bytes.
const maxName = 100

func unknownParameter(name string, known []string) *callwright.Error {
	if name == "" {
		return callwright.Invalid("", `"" is not a known parameter`)
	}
	name = callwright.Clip(name, maxName)
	if near := nearest(name, known); near != "" {
		return callwright.Invalid(name, "is not a known parameter; did you mean %s?", strconv.Quote(near))
	}
	return callwright.Invalid(name, "is not a known parameter")
}

// nearest returns the known name that differs from a name in at most two letters, less than half of them; empty if there is
// none. Case, underscores and dashes do not count.
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

// distance returns the number of letters to add, remove or replace to turn one word into the other.
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
