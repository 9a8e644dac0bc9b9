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
