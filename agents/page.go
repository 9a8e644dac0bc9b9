package agents

import (
	"encoding/json"

	"github.com/callwright/callwright"
)

// MaxRead bounds the bytes of agents that are read together, and so the size of a page. One agent may take a third of it.
const MaxRead = 2 << 20

// recordSize is the approximate size of a record without texts, in bytes.
const recordSize = 700

// size estimates the bytes of the agent: texts, tools and requests.
func (a Agent) size() int {
	size := len(a.Task) + len(a.Persona) + len(a.FirstSentence) + len(a.Webhook)
	for _, raw := range a.Tools {
		size += len(raw)
	}
	if len(a.DynamicData) > 0 {
		data, _ := json.Marshal(a.DynamicData) //nolint:errchkjson,musttag // only its length counts
		size += len(data)
	}
	return size
}

// Size estimates the bytes of the web agent's record.
func (w WebAgent) Size() int {
	size := recordSize + w.Agent.size() + len(w.VoiceSettings)
	for _, k := range w.Keywords {
		size += len(k)
	}
	if len(w.Metadata) > 0 {
		metadata, _ := json.Marshal(w.Metadata) //nolint:errchkjson // only its length counts
		size += len(metadata)
	}
	return size
}

// Keyset returns the place of the web agent in its list.
func (w WebAgent) Keyset() callwright.Keyset { return callwright.Keyset{At: w.CreatedAt, ID: w.ID} }

// Size estimates the bytes of the number's record.
func (n InboundNumber) Size() int { return recordSize + n.Agent.size() }

// Keyset returns the place of the number in its list.
func (n InboundNumber) Keyset() callwright.Keyset { return callwright.Keyset{ID: n.Number.String()} }

// pageSize returns the maximum number of items of a page: limit, or else most.
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
