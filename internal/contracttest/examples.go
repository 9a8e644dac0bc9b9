package contracttest

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// seen is a set of the errors that Check has read, as returned by shown, with and without the operation.
var seen sync.Map

var (
	uuids  = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	digits = regexp.MustCompile(`[0-9]+`)
)

// shown returns the code and message of an error body. It replaces ids and numbers by fixed texts, so that an answer equals its example.
func shown(body map[string]any) string {
	message, _ := firstEntry(body)["message"].(string)
	return codeOf(body) + " " + digits.ReplaceAllString(uuids.ReplaceAllString(message, "ID"), "0")
}

// UnseenByOperation returns the examples of 400, 413 and 415 that Check has not read for an operation since the program began. Many
// operations share these examples. Each result has the form OPERATION RESPONSE.EXAMPLE.
func UnseenByOperation() []string {
	d := contract()
	var unseen []string
	for _, methods := range d.Paths {
		for _, op := range methods {
			for _, status := range []string{"400", "413", "415"} {
				name := strings.TrimPrefix(op.Responses[status].Ref, "#/components/responses/")
				for _, media := range d.Components.Responses[name].Content {
					for example, e := range media.Examples {
						if _, ok := seen.Load(op.ID + " " + shown(e.Value)); !ok {
							unseen = append(unseen, op.ID+" "+name+"."+example)
						}
					}
				}
			}
		}
	}
	slices.SortFunc(unseen, strings.Compare)
	return unseen
}

// Unseen returns the examples of errors that Check has not read since the program began. Each result has the form RESPONSE.EXAMPLE.
func Unseen() []string {
	var unseen []string
	for name, r := range contract().Components.Responses {
		for _, media := range r.Content {
			for example, e := range media.Examples {
				if _, ok := seen.Load(shown(e.Value)); !ok {
					unseen = append(unseen, name+"."+example)
				}
			}
		}
	}
	slices.SortFunc(unseen, strings.Compare)
	return unseen
}
