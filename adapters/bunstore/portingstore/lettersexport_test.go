package portingstore

import (
	"encoding/json"

	"github.com/callwright/callwright/porting/loa"
)

// LetterDocuments returns the JSON that the store seals for a letter and for an event of its audit trail.
func LetterDocuments(l loa.Letter, e loa.Event) ([]byte, error) {
	return json.MarshalIndent(map[string]any{"letter": l.Content, "event": newLetterEventJSON(e)}, "", "  ")
}
