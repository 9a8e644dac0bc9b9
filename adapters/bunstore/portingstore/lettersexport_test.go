package portingstore

import (
	"encoding/json"

	"github.com/callwright/callwright/porting/loa"
)

// LetterDocuments returns the sealed documents of a letter and of an event of its audit trail.
func LetterDocuments(l loa.Letter, e loa.Event) ([]byte, error) {
	return json.MarshalIndent(map[string]any{"letter": l.Content, "event": newLetterEventJSON(e)}, "", "  ")
}
