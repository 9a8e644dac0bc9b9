package contracttest

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// seen holds the errors that Check was given, as an example would show them.
var seen sync.Map

var (
	uuids  = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	digits = regexp.MustCompile(`[0-9]+`)
)

// shown returns the code and the message of an error's body. Ids and numbers, which differ from answer to answer, are the
// same in all.
func shown(body map[string]any) string {
	message, _ := firstEntry(body)["message"].(string)
	return codeOf(body) + " " + digits.ReplaceAllString(uuids.ReplaceAllString(message, "ID"), "0")
}

// UnseenByOperation returns the examples of 400, 413 and 415, which are shared by many operations, that no answer of an
// operation had since the program began, each as OPERATION RESPONSE.EXAMPLE.
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

// Unseen returns the examples of errors that no answer had since the program began, each as RESPONSE.EXAMPLE.
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
