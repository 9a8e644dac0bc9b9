package agents

import (
	"encoding/json"

	"github.com/callwright/callwright"
)

// MaxRead bounds the bytes of agents that are read together, and so the size of a page. One agent may use up to a third of MaxRead.
const MaxRead = 2 << 20

// recordSize approximates the bytes of a record without its texts.
const recordSize = 700

// size estimates the bytes of the agent's texts, tools and requests.
func (a Agent) size() int {
	size := len(a.Task) + len(a.Persona) + len(a.FirstSentence) + len(a.Webhook) + len(a.Brain) + len(a.VoiceSettings)
	for _, p := range a.Pronunciation {
		size += len(p.Word) + len(p.Spoken)
	}
	for _, k := range a.Keywords {
		size += len(k)
	}
	for _, raw := range a.Tools {
		size += len(raw)
	}
	if len(a.DynamicData) > 0 {
		data, _ := json.Marshal(a.DynamicData) //nolint:errchkjson,musttag // only its length counts
		size += len(data)
	}
	return size
}

// Size estimates the bytes of the web agent's record. Stores compare the sum of the sizes on a page with MaxRead.
func (w WebAgent) Size() int {
	size := recordSize + w.Agent.size()
	if len(w.Metadata) > 0 {
		metadata, _ := json.Marshal(w.Metadata) //nolint:errchkjson // only its length counts
		size += len(metadata)
	}
	return size
}

// Keyset returns the web agent's position in the list, which is ordered by creation time and id.
func (w WebAgent) Keyset() callwright.Keyset { return callwright.Keyset{At: w.CreatedAt, ID: w.ID} }

// Size estimates the bytes of the number's record. Stores compare the sum of the sizes on a page with MaxRead.
func (n InboundNumber) Size() int { return recordSize + n.Agent.size() }

// Keyset returns the number's position in the list, which is ordered by number.
func (n InboundNumber) Keyset() callwright.Keyset { return callwright.Keyset{ID: n.Number.String()} }

// pageSize returns limit, or the maximum (most) if limit is 0. It returns CodeBadRequest if limit is negative or greater than the maximum.
func pageSize(limit, most int) (int, error) {
	switch {
	case limit < 0 || limit > most:
		return 0, callwright.Invalid("limit", "must be from 1 to %d", most)
	case limit == 0:
		return most, nil
	default:
		return limit, nil
	}
}
