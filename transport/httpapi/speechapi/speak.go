package speechapi

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/ogen-go/ogen/middleware"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/speechoas"
)

// wav is the media type of all audio.
const wav = "audio/wav"

// CreateSpeech serves POST /v1/speak. It synthesizes a text. It answers with a link to the audio, or with the audio itself if the client
// accepts audio but no JSON.
func (a *api) CreateSpeech(ctx context.Context, req *oas.SpeechCreate, _ oas.CreateSpeechParams) (oas.CreateSpeechRes, error) {
	voice, field := req.Voice.Or(""), "voice"
	if given, ok := req.VoiceID.Get(); ok {
		if voice != "" && voice != given {
			return nil, callwright.Invalid("voice_id", "must equal voice: set only one of them")
		}
		if voice == "" {
			voice, field = given, "voice_id"
		}
	}
	if err := httpapi.NoteVoice(ctx, field, voice, req.Language.Or("")); err != nil {
		return nil, err
	}
	answer, err := a.speak(ctx, speech.Request{
		Text: req.Text, Voice: voice, Language: req.Language.Or(""), Format: speech.Format(req.OutputFormat.Or("")),
		User: httpapi.Principal(ctx).KeyID,
	})
	if e, ok := errors.AsType[*callwright.Error](err); ok && e.Field == "voice" {
		renamed := *e
		renamed.Field = field
		err = &renamed
	}
	return answer, err
}

func (a *api) speak(ctx context.Context, r speech.Request) (oas.CreateSpeechRes, error) {
	if audioOnly(ctx) {
		playback, err := a.cfg.Speech.Stream(ctx, httpapi.Org(ctx), r)
		if err != nil {
			return nil, err
		}
		httpapi.LogID(ctx, "sample_id", playback.Sample.ID)
		return &oas.CreateSpeechOKAudioWavHeaders{
			XSampleID: oas.NewOptString(playback.Sample.ID),
			Response:  oas.CreateSpeechOKAudioWav{Data: &unbroken{ctx, playback}},
		}, nil
	}
	sample, err := a.cfg.Speech.Speak(ctx, httpapi.Org(ctx), r)
	if err != nil {
		return nil, err
	}
	httpapi.LogID(ctx, "sample_id", sample.ID)
	answer := &oas.SpeechCreatedHeaders{
		XSampleID: oas.NewOptString(sample.ID),
		Response:  oas.SpeechCreated{URL: a.link(sample), SampleID: sample.ID},
	}
	for _, member := range httpapi.IgnoredMembers(ctx) {
		answer.Response.Ignored = append(answer.Response.Ignored, oas.IgnoredMember(member))
	}
	return answer, nil
}

// unbroken is the audio of an answer that has begun. If reading it fails, unbroken aborts the connection. Otherwise the regular end of the
// body would tell the client that the audio is complete.
type unbroken struct {
	ctx context.Context //nolint:containedctx // of the request, for its log line
	io.ReadCloser
}

// Read reads the audio. On any error but io.EOF, it panics with http.ErrAbortHandler. It logs the error unless the client has disconnected.
func (u *unbroken) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		if u.ctx.Err() == nil { // the client is still connected
			httpapi.LogFailure(u.ctx, err)
		}
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// speaking is a Server that flushes audio after each write, instead of when a buffer is full.
type speaking struct{ httpapi.Server }

// ServeHTTP serves a request. It flushes audio after each write if the method is POST.
func (s speaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		w = prompt{w}
	}
	s.Server.ServeHTTP(w, r)
}

type prompt struct{ http.ResponseWriter }

// Write writes b, and flushes it if the answer is audio.
func (p prompt) Write(b []byte) (int, error) {
	n, err := p.ResponseWriter.Write(b)
	if err == nil && p.Header().Get("Content-Type") == wav {
		_ = http.NewResponseController(p.ResponseWriter).Flush() // the next Write reports a disconnect
	}
	return n, err
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (p prompt) Unwrap() http.ResponseWriter { return p.ResponseWriter }

type audioOnlyKey struct{}

// audioOnly reports whether the client of ctx's request accepts audio, but no JSON.
func audioOnly(ctx context.Context) bool { return ctx.Value(audioOnlyKey{}) != nil }

// negotiate marks the requests for speech that accept audio, but no JSON. It deletes their Idempotency-Key, because an answer with audio is
// not stored.
func negotiate(req middleware.Request, next middleware.Next) (middleware.Response, error) {
	if req.OperationName != oas.CreateSpeechOperation {
		return next(req)
	}
	if takesAudioOnly(req.Raw.Header) {
		req.Raw = req.Raw.Clone(context.WithValue(req.Context, audioOnlyKey{}, true))
		req.Raw.Header.Del("Idempotency-Key")
		req.Context = req.Raw.Context()
	}
	answer, err := next(req)
	if kept, ok := answer.Type.(*created); ok {
		answer.Type = &kept.SpeechCreatedHeaders
	}
	return answer, err
}

// takesAudioOnly reports whether a client accepts WAV files, under any of their media types, but no JSON.
func takesAudioOnly(h http.Header) bool {
	audio := 0.0
	for _, name := range []string{wav, "audio/x-wav", "audio/wave", "audio/vnd.wave"} {
		audio = max(audio, httpapi.AcceptQuality(h, name))
	}
	return audio > 0 && httpapi.AcceptQuality(h, "application/json") == 0
}

// keepable converts JSON answers to the form in which they are stored.
func keepable(req middleware.Request, next middleware.Next) (middleware.Response, error) {
	answer, err := next(req)
	if spoken, ok := answer.Type.(*oas.SpeechCreatedHeaders); ok && spoken != nil {
		answer.Type = &created{*spoken}
	}
	return answer, err
}

// created is a JSON answer in its stored form: without the header, which repeats the id in the body.
type created struct{ oas.SpeechCreatedHeaders }

// MarshalJSON encodes the body of the answer.
func (c *created) MarshalJSON() ([]byte, error) { return c.Response.MarshalJSON() }

// UnmarshalJSON decodes the body, and sets the header to the id in the body.
func (c *created) UnmarshalJSON(text []byte) error {
	err := c.Response.UnmarshalJSON(text)
	c.XSampleID = oas.NewOptString(c.Response.SampleID)
	return err
}
