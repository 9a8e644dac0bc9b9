package speech

import (
	"context"
	"fmt"
	"mime/multipart"
	"net/http"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// voices holds the data of the page that lists voices.
type voices struct {
	turn

	Voices []speech.Voice // only the voices on this page
	Total  int
}

func (p pages) voices(ctx context.Context, r *page.Request) (page.Answer, error) {
	offset, err := offsetOf(r)
	if err != nil {
		return nil, err
	}
	all, err := p.cfg.Speech.Voices(ctx, r.Org())
	if err != nil {
		return nil, err
	}
	v := voices{Total: len(all)}
	v.Voices = all[min(offset, len(all)):min(offset+pageSize, len(all))]
	v.turn = turnOf(r, offset, len(v.Voices), len(all))
	return &page.View{Page: "voices", Title: "Voices", Data: v}, nil
}

// voice holds the data of a voice's page.
type voice struct {
	speech.Voice

	Pitch, Tempo float64 // factors relative to Base
	KeyName      string  // name of the key CreatedBy, or empty if unknown
	NewName      string  // as typed
	MaxName      int
	Faults       page.Faults
}

func (p pages) voice(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.voicePage(ctx, r, voice{})
}

func (p pages) voicePage(ctx context.Context, r *page.Request, shown voice) (page.Answer, error) {
	v, err := p.cfg.Speech.Voice(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	shown.Voice, shown.MaxName = v, speech.MaxName
	shown.Pitch, shown.Tempo = v.Prosody.Factors()
	if shown.KeyName, err = p.keyName(ctx, r, v.CreatedBy); err != nil {
		return nil, err
	}
	view := &page.View{Page: "voice", Title: v.Name, Data: &shown}
	if shown.Faults == nil {
		shown.NewName = v.Name
	} else {
		view.Status = http.StatusUnprocessableEntity
	}
	return view, nil
}

func (p pages) rename(ctx context.Context, r *page.Request) (page.Answer, error) {
	v, err := p.cfg.Speech.Rename(ctx, r.Org(), r.PathValue("id"), r.Field("name"))
	if faults, ok := page.FaultsOf(err, nil, "name"); ok {
		return p.voicePage(ctx, r, voice{NewName: r.Field("name"), Faults: faults})
	}
	if err != nil {
		return nil, err
	}
	return page.SeeOther{To: page.Path("/speech/voices", v.ID), Notice: "The voice is now called " + v.Name + "."}, nil
}

func (p pages) delete(ctx context.Context, r *page.Request) (page.Answer, error) {
	if err := p.cfg.Speech.Delete(ctx, r.Org(), r.PathValue("id")); err != nil {
		return nil, err
	}
	return page.SeeOther{To: "/speech/voices", Notice: "The voice is deleted. Its samples stay."}, nil
}

// cloning holds the data of the page that clones a voice from recordings.
type cloning struct {
	Name, Description, Gender, Language string // as typed

	Can      bool        // the server has a Cloner
	Service  string      // name of the Cloner's service
	Kind     speech.Kind // kind of voices that the Cloner creates
	MaxFiles int
	MaxName  int
	Faults   page.Faults
}

func (p pages) showClone(_ context.Context, _ *page.Request) (page.Answer, error) {
	return p.clonePage(cloning{}), nil
}

func (p pages) clonePage(c cloning) page.Answer {
	c.Service, c.Kind, c.Can = p.cfg.Speech.Cloner()
	c.MaxFiles, c.MaxName = speech.MaxFiles, speech.MaxName
	v := &page.View{Page: "clone", Title: "Make a voice", Data: c}
	if c.Faults != nil {
		v.Status = http.StatusUnprocessableEntity
	}
	return v
}

// recordingField returns the name that the domain gives the field of a recording.
func recordingField(i int) string { return fmt.Sprintf("audio_samples[%d]", i) }

// clone creates a voice from the uploaded recordings. If the request is invalid, the form is shown again.
func (p pages) clone(ctx context.Context, r *page.Request) (page.Answer, error) {
	c := cloning{Name: r.Field("name"), Description: r.Field("description"), Gender: r.Field("gender"), Language: r.Field("language")}
	request := speech.CloneRequest{Name: c.Name, Description: c.Description, Gender: c.Gender, Language: c.Language, User: r.Principal.KeyID}
	var given []*multipart.FileHeader
	if r.MultipartForm != nil {
		given = r.MultipartForm.File["audio_samples"]
	}
	for _, header := range given[:min(len(given), speech.MaxFiles+1)] {
		file, err := header.Open()
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		request.Files = append(request.Files, file)
	}
	v, err := p.cfg.Speech.Clone(ctx, r.Org(), request)
	fields := []string{"name", "audio_samples", "language", "gender", "description"}
	for i := range given {
		fields = append(fields, recordingField(i))
	}
	if faults, ok := page.FaultsOf(err, nil, fields...); ok {
		for i, header := range given {
			if text, ok := faults[recordingField(i)]; ok {
				faults["audio_samples"] = callwright.Clip(header.Filename, 80) + ": " + text
			}
		}
		c.Faults = faults
		return p.clonePage(c), nil
	}
	if err != nil {
		return nil, err
	}
	return page.SeeOther{To: page.Path("/speech/voices", v.ID), Notice: "The voice is made. Listen to it before an agent uses it."}, nil
}
