package speechstore

import (
	"encoding/json"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/tts"
)

type voiceRow struct {
	bun.BaseModel `bun:"table:voices,alias:voice"`

	ID        string    `bun:"id,pk"`
	Org       string    `bun:"org"`
	NameKey   string    `bun:"name_key"`
	CreatedAt time.Time `bun:"created_at"`
	Version   int64     `bun:"version"`
	Document  string    `bun:"document"` // voiceJSON
}

// voiceJSON holds the fields of a voice that no query searches.
type voiceJSON struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	Tags        []string    `json:"tags,omitzero"`
	Kind        speech.Kind `json:"kind"`
	Service     string      `json:"service,omitempty"`
	Base        string      `json:"base,omitempty"`
	Pitch       float64     `json:"pitch,omitempty"`
	Tempo       float64     `json:"tempo,omitempty"`
	Language    string      `json:"language,omitempty"`
	CreatedBy   string      `json:"created_by,omitempty"`
}

func newVoiceJSON(v speech.Voice) voiceJSON {
	return voiceJSON{
		Name: v.Name, Description: v.Description, Tags: v.Tags, Kind: v.Kind, Service: v.Service, Base: v.Base, Pitch: v.Prosody.Pitch,
		Tempo: v.Prosody.Tempo, Language: v.Language, CreatedBy: v.CreatedBy,
	}
}

func newVoiceRow(v speech.Voice) (voiceRow, error) {
	document, err := json.Marshal(newVoiceJSON(v))
	if err != nil {
		return voiceRow{}, callwright.ErrInternal.Because(err)
	}
	return voiceRow{
		ID: v.ID, Org: string(v.Org), NameKey: speech.Key(v.Name), CreatedAt: sqldb.Stored(v.CreatedAt), Version: v.Version,
		Document: string(document),
	}, nil
}

func (r voiceRow) voice() (speech.Voice, error) {
	var j voiceJSON
	if err := json.Unmarshal([]byte(r.Document), &j); err != nil {
		return speech.Voice{}, callwright.ErrInternal.Because(err)
	}
	return speech.Voice{
		ID: r.ID, Org: callwright.OrgID(r.Org), Name: j.Name, Description: j.Description, Tags: j.Tags, Kind: j.Kind, Service: j.Service,
		Base: j.Base, Prosody: tts.Prosody{Pitch: j.Pitch, Tempo: j.Tempo}, Language: j.Language, CreatedBy: j.CreatedBy,
		CreatedAt: r.CreatedAt.UTC(), Version: r.Version,
	}, nil
}
