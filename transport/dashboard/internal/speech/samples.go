package speech

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// say holds the data of the page that synthesizes a text.
type say struct {
	choice

	Text, Voice, Language, Format string // as typed

	Formats []speech.Format
	MaxText int
	Faults  page.Faults
}

func (p pages) showSpeak(ctx context.Context, r *page.Request) (page.Answer, error) {
	return p.sayPage(ctx, r, say{Voice: r.Query("voice"), Format: string(speech.PCM44100)})
}

func (p pages) sayPage(ctx context.Context, r *page.Request, s say) (page.Answer, error) {
	var err error
	if s.choice, err = p.choice(ctx, r); err != nil {
		return nil, err
	}
	s.Formats, s.MaxText = speech.Formats(), speech.MaxText
	v := &page.View{Page: "say", Title: "Speech", Data: s}
	if s.Faults != nil {
		v.Status = http.StatusUnprocessableEntity
	}
	return v, nil
}

// speak synthesizes a text, and redirects to the page of the sample. If the request is invalid, the form is shown again.
func (p pages) speak(ctx context.Context, r *page.Request) (page.Answer, error) {
	s := say{Text: r.PostForm.Get("text"), Voice: r.Field("voice"), Language: r.Field("language"), Format: r.Field("output_format")}
	sample, err := p.cfg.Speech.Speak(ctx, r.Org(), speech.Request{
		Text: s.Text, Voice: s.Voice, Language: s.Language, Format: speech.Format(s.Format), User: r.Principal.KeyID,
	})
	if faults, ok := page.FaultsOf(err, nil, "text", "voice", "language", "output_format"); ok {
		s.Faults = faults
		return p.sayPage(ctx, r, s)
	}
	if err != nil {
		return nil, err
	}
	return page.SeeOther{To: page.Path("/speech/samples", sample.ID)}, nil
}

// list holds the data of the page that lists samples.
type list struct {
	choice
	speech.SampleList
	turn

	Voice string // id of the voice whose samples are listed, or empty for all
	Names map[string]string
}

func (p pages) samples(ctx context.Context, r *page.Request) (page.Answer, error) {
	offset, err := offsetOf(r)
	if err != nil {
		return nil, err
	}
	l := list{Voice: r.Query("voice")}
	if l.SampleList, err = p.cfg.Speech.Samples(ctx, r.Org(), speech.SampleQuery{Voice: l.Voice, Limit: pageSize, Offset: offset}); err != nil {
		return nil, err
	}
	if l.choice, err = p.choice(ctx, r); err != nil {
		return nil, err
	}
	l.Names, l.turn = names(l.Voices), turnOf(r, offset, len(l.Samples), l.Total)
	return &page.View{Page: "samples", Title: "Samples", Data: l}, nil
}

// spoken holds the data of a sample's page.
type spoken struct {
	speech.Sample

	VoiceName string // empty if the voice was deleted
	KeyName   string // name of the key User, or empty if unknown
}

func (p pages) sample(ctx context.Context, r *page.Request) (page.Answer, error) {
	s, err := p.cfg.Speech.Sample(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	voices, err := p.cfg.Speech.Voices(ctx, r.Org())
	if err != nil {
		return nil, err
	}
	key, err := p.keyName(ctx, r, s.User)
	return &page.View{Page: "sample", Title: "Sample", Data: spoken{s, names(voices)[s.Voice], key}}, err
}

func (p pages) deleteSample(ctx context.Context, r *page.Request) (page.Answer, error) {
	if err := p.cfg.Speech.DeleteSample(ctx, r.Org(), r.PathValue("id")); err != nil {
		return nil, err
	}
	return page.SeeOther{To: "/speech/samples", Notice: "The sample is deleted."}, nil
}

// audio sends the audio of a sample as WAV. It supports range requests, which players make.
func (p pages) audio(ctx context.Context, r *page.Request) (page.Answer, error) {
	audio, err := p.cfg.Speech.Audio(ctx, r.Org(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return page.Content{Close: audio.Close, Send: func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "audio/wav")
		h.Set("Content-Disposition", fmt.Sprintf("inline; filename=%q", audio.ID+".wav"))
		h.Set("ETag", strconv.Quote(audio.Blob))
		http.ServeContent(w, r, "", audio.CreatedAt, audio)
	}}, nil
}
