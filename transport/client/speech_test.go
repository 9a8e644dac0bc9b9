package client_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
)

// audio returns a handler that answers with the given body, and refuses requests that contain an Authorization header: downloads must not
// send the key.
func audio(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			http.Error(w, "the key came along", http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "audio/wav")
		_, _ = w.Write(body)
	}
}

// speaks returns a client whose server answers each request for speech with a link to audio.
func speaks(t *testing.T, link func() string, change ...func(*client.Config)) *client.Client {
	t.Helper()
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, fmt.Sprintf(`{"url":%q,"sample_id":"s1"}`, link()))
	}, change...)
	return c
}

func TestSpeakToBuffer(t *testing.T) {
	t.Parallel()
	files := httptest.NewServer(audio(wav))
	defer files.Close()
	hops := 0
	moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hops++; r.URL.Path == "/once" {
			http.Redirect(w, r, files.URL, http.StatusFound)
			return
		}
		http.Redirect(w, r, "/again", http.StatusFound)
	}))
	defer moved.Close()
	for name, link := range map[string]string{"elsewhere": files.URL + "/s1?signature=x", "redirect": moved.URL + "/once"} {
		got, s, err := speaks(t, func() string { return link }).SpeakToBuffer(t.Context(), client.SpeakRequest{Text: "Hi.", Voice: "Ines"})
		if err != nil || !bytes.Equal(got, wav) || s.VoiceUsed != "Ines" || s.SampleID != "s1" {
			t.Errorf("%s: %d bytes, %v, %v", name, len(got), s, err)
		}
	}
	hops = 0
	_, s, err := speaks(t, func() string { return moved.URL + "/for-ever" }).SpeakToBuffer(t.Context(), client.SpeakRequest{Text: "Hi."})
	if err == nil || hops != 6 || s.SampleID != "s1" {
		t.Errorf("redirects for ever: %d, %v", hops, err)
	}
}

// TestSpeakWithoutTheDrawnVoice checks that Speak sends the text a second time, without a voice, only if the server refused a voice that
// was drawn, or its language. There is no third request.
func TestSpeakWithoutTheDrawnVoice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		choice client.VoiceChoice
		voice  string
		field  string // field that the server refuses in requests with a voice, or with "always" in every request
		sent   int
		used   string // expected voice; empty if Speak fails
	}{
		"drawn, no such voice":     {client.VoiceChoice{}, "", "voice", 2, "en-us"},
		"drawn, voice_id":          {client.VoiceChoice{}, "", "voice_id", 2, "en-us"},
		"drawn, other language":    {client.RandomVoice("a", "b"), "", "language", 2, "en-us"},
		"drawn, text":              {client.VoiceChoice{}, "", "text", 1, ""},
		"pinned":                   {client.PinnedVoice("slt"), "", "voice", 1, ""},
		"named":                    {client.VoiceChoice{}, " slt", "voice", 1, ""},
		"drawn, the server's, too": {client.VoiceChoice{}, "", "language always", 2, ""},
	} {
		var keys []string
		cl, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				reply(w, 200, `{"data":[{"id":"s1","voice_id":"en-us"}],"errors":null,"total":1,"limit":20,"offset":0}`)
				return
			}
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			body, _ := io.ReadAll(r.Body)
			field, always := strings.CutSuffix(c.field, " always")
			if always || strings.Contains(string(body), `"voice"`) {
				reply(w, 400, fmt.Sprintf(`{"data":null,"errors":[{"error":"BAD_REQUEST","message":"no","path":%q}]}`, field))
				return
			}
			reply(w, 200, `{"url":"http://x/s1","sample_id":"s1"}`)
		}, func(cfg *client.Config) { cfg.Voice = c.choice })
		s, err := cl.Speak(t.Context(), client.SpeakRequest{Text: "Hi.", Voice: c.voice, IdempotencyKey: "k"})
		if len(keys) != c.sent || s.VoiceUsed != c.used || (err == nil) != (c.used != "") || c.sent == 2 && (keys[0] != "k" || keys[1] == "k" || len(keys[1]) != 64) {
			t.Errorf("%s: sent with %v, %+v, %v", name, keys, s, err)
		}
	}
}

func TestDownloadsThatAreRefused(t *testing.T) {
	t.Parallel()
	lying := bytes.Clone(wav)
	lying[5]++ // the header states 256 bytes more than there are
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		want error
		n    int64
	}{
		"page":       {audio([]byte("<html>not audio")), callwright.ErrUnsupportedMedia, 0},
		"zip":        {audio([]byte("PK\x03\x04 called .wav")), callwright.ErrUnsupportedMedia, 0},
		"RIFF, AVI":  {audio([]byte("RIFF\x00\x00\x00\x00AVI LIST")), callwright.ErrUnsupportedMedia, 0},
		"nothing":    {audio(nil), callwright.ErrUnsupportedMedia, 0},
		"short":      {audio([]byte("RIFF")), callwright.ErrUnsupportedMedia, 0},
		"cut short":  {audio(lying), callwright.ErrUnavailable, int64(len(lying))},
		"expired":    {func(w http.ResponseWriter, _ *http.Request) { reply(w, 404, `{"errors":[{"error":"NOT_FOUND"}]}`) }, callwright.ErrNotFound, 0},
		"JSON error": {func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, `{"errors":[{"error":"NOT_FOUND"}]}`) }, callwright.ErrNotFound, 0},
		"breaks off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9000")
			_, _ = w.Write(wav)
			panic(http.ErrAbortHandler)
		}, callwright.ErrUnavailable, -1},
		"too long, said": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99999")
			_, _ = w.Write(wav)
		}, callwright.ErrPayloadTooLarge, 0},
		"too long, not said": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "OggS")
			_ = http.NewResponseController(w).Flush()
			_, _ = w.Write(make([]byte, 50_000))
		}, callwright.ErrPayloadTooLarge, 20_000},
	} {
		files := httptest.NewServer(c.h)
		cl := speaks(t, func() string { return files.URL }, func(c *client.Config) { c.MaxAudio = 20_000 })
		var to bytes.Buffer
		n, err := cl.Download(t.Context(), &to, files.URL+"/s1?signature=hidden")
		if !errors.Is(err, c.want) || n != c.n && c.n >= 0 || int64(to.Len()) != n || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		files.Close()
	}
	cl := speaks(t, nil)
	for _, link := range []string{"", "file:///etc/passwd", "http://u:hidden@127.0.0.1/", "http://", "\x7f", "ftp://127.0.0.1/"} {
		if _, err := cl.Download(t.Context(), io.Discard, link); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: %v", link, err)
		}
	}
	secure, err := client.New(client.Config{APIKey: key, BaseURL: "https://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := secure.Download(t.Context(), io.Discard, "http://127.0.0.1:1/x"); callwright.CodeOf(err) != callwright.CodeBadRequest {
		t.Errorf("unencrypted: %v", err)
	}
}

func TestDownloadStopsWithTheWriter(t *testing.T) {
	t.Parallel()
	files := httptest.NewServer(audio(wav))
	defer files.Close()
	if _, err := speaks(t, nil).Download(t.Context(), full{}, files.URL); !errors.Is(err, io.ErrShortBuffer) {
		t.Errorf("got %v", err)
	}
}

// full is a writer that always fails.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortBuffer }

func TestSamples(t *testing.T) {
	t.Parallel()
	const record = `"id":"s1","sample_id":"s1","org_id":"o","user_id":null,"text":"Hi.","voice_id":"v1","output_format":"pcm_8000",
		"latency_ms":7,"cost":null,"url":"http://x/s1","created_at":"2026-03-02T09:15:00.000Z"`
	var asked string
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RequestURI()
		switch {
		case strings.Contains(asked, "format=audio"):
			w.Header().Set("Content-Type", "audio/wav")
			_, _ = w.Write(wav)
		case strings.Contains(asked, "/samples/bad"):
			reply(w, 200, `{"data":{"id":"s1","text":`)
		case strings.Contains(asked, "/samples/"):
			reply(w, 200, `{"data":{`+record+`,"audio_data":"`+base64.StdEncoding.EncodeToString(wav)+`","more":[1]},"errors":null}`)
		default:
			reply(w, 200, `{"data":[{`+record+`}],"errors":null,"total":41,"limit":1,"offset":2}`)
		}
	}, func(c *client.Config) { c.MaxAnswer = 1000 })
	list, err := c.ListSamples(t.Context(), client.SampleFilter{VoiceID: "v/1", Limit: 1, Offset: 2})
	if err != nil || asked != "/v1/speak/samples?limit=1&offset=2&voice_id=v%2F1" || list.Total != 41 || list.Limit != 1 || list.Offset != 2 || len(list.Samples) != 1 {
		t.Fatalf("got %v, %v of %s", list, err, asked)
	}
	if s := list.Samples[0]; s.ID != "s1" || s.Text != "Hi." || s.Format != "pcm_8000" || s.LatencyMS != 7 || s.Cost != nil || s.CreatedAt.Year() != 2026 {
		t.Errorf("got %+v", s)
	}
	s, err := c.GetSample(t.Context(), "s1")
	if err != nil || !bytes.Equal(s.Audio, wav) {
		t.Errorf("got %v, %v", s.ID, err)
	}
	s, err = c.SampleInfo(t.Context(), "s1")
	if err != nil || s.Audio != nil || s.Text != "Hi." || s.VoiceID != "v1" {
		t.Errorf("got %+v, %v", s, err)
	}
	if _, err = c.SampleInfo(t.Context(), "bad"); !errors.Is(err, callwright.ErrInternal) {
		t.Errorf("cut short: %v", err)
	}
	var to bytes.Buffer
	if _, err := c.SampleAudio(t.Context(), &to, "s1"); err != nil || !bytes.Equal(to.Bytes(), wav) {
		t.Errorf("audio: %v", err)
	}
	asked = ""
	for _, id := range []string{"", ".", "..", strings.Repeat("x", 129)} {
		_, one := c.GetSample(t.Context(), id)
		_, two := c.SampleInfo(t.Context(), id)
		_, three := c.SampleAudio(t.Context(), io.Discard, id)
		for _, err := range []error{one, two, three} {
			if !errors.Is(err, callwright.ErrBadRequest) || asked != "" {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
}

func TestVoices(t *testing.T) {
	t.Parallel()
	const own = `{"id":"v1","name":"Ines","description":null,"public":false,"tags":["calm"],"user_id":null,"voice_id":"slt","service":"flite","finetuned":true,"kind":"profile","created_at":"2026-03-02T09:15:00.000Z"}`
	const public = `{"id":"slt","name":"slt","description":"x","public":true,"tags":[],"user_id":null,"voice_id":"slt","service":"flite","finetuned":false,"language":"en","created_at":null}`
	var asked string
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = r.Method + " " + r.URL.EscapedPath() + " " + string(body)
		switch {
		case r.Method == http.MethodPatch:
			reply(w, 200, `{"data":{"voice_id":"v1","name":"Ina"},"errors":null}`)
		case r.Method == http.MethodDelete:
			reply(w, 200, `{"data":{"status":"success","message":"Voice deleted."},"errors":null}`)
		case r.URL.Path == "/v1/voices":
			reply(w, 200, `{"voices":[`+own+`,`+public+`]}`)
		default:
			reply(w, 200, `{"voice":`+own+`}`)
		}
	})
	all, err := c.ListVoices(t.Context(), client.VoiceFilter{})
	if err != nil || len(all) != 2 || *all[1].Language != "en" || all[0].Kind != "profile" {
		t.Errorf("all: %v, %v", all, err)
	}
	custom, err := c.ListVoices(t.Context(), client.VoiceFilter{Custom: true})
	if err != nil || len(custom) != 1 || custom[0].Name != "Ines" {
		t.Errorf("custom: %v, %v", custom, err)
	}
	v, err := c.GetVoice(t.Context(), "Ines & Otto/2")
	if err != nil || v.ID != "v1" || v.CreatedAt == nil || asked != "GET /v1/voices/Ines%20&%20Otto%2F2 " {
		t.Errorf("get: %v, %v, %s", v, err, asked)
	}
	renamed, err := c.RenameVoice(t.Context(), "v1", "Ina")
	if err != nil || renamed != (client.VoiceName{VoiceID: "v1", Name: "Ina"}) || asked != `PATCH /v1/voices/v1 {"name":"Ina"}` {
		t.Errorf("rename: %v, %v, %s", renamed, err, asked)
	}
	message, err := c.DeleteVoice(t.Context(), "v1")
	if err != nil || message != "Voice deleted." || asked != "DELETE /v1/voices/v1 " {
		t.Errorf("delete: %s, %v, %s", message, err, asked)
	}
	if _, err := c.DeleteSample(t.Context(), "s/1"); err != nil || asked != "DELETE /v1/speak/samples/s%2F1 " {
		t.Errorf("delete a sample: %v, %s", err, asked)
	}
	asked = ""
	_, one := c.GetVoice(t.Context(), "")
	_, two := c.RenameVoice(t.Context(), "..", "x")
	_, three := c.DeleteVoice(t.Context(), "")
	_, four := c.DeleteSample(t.Context(), "..")
	for _, err := range []error{one, two, three, four} {
		if !errors.Is(err, callwright.ErrBadRequest) || asked != "" {
			t.Errorf("got %v, asked %s", err, asked)
		}
	}
}

func TestCloneVoice(t *testing.T) {
	t.Parallel()
	var got []string
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		parts, err := r.MultipartReader()
		if err != nil {
			reply(w, 415, `{}`)
			return
		}
		for {
			part, err := parts.NextPart()
			if err != nil {
				break
			}
			body, _ := io.ReadAll(part)
			got = append(got, fmt.Sprintf("%s %s %d", part.FormName(), part.FileName(), len(body)))
		}
		reply(w, 200, `{"status":200,"data":{"voice_id":"v1","name":"Ines"},"errors":null}`)
	})
	files := []client.File{
		{Name: "a.wav", Content: bytes.NewReader(wav)}, {Name: `b".ogg`, Content: io.LimitReader(zeros{}, 1<<20)},
	}
	v, err := c.CloneVoice(t.Context(), client.CloneRequest{Name: "Ines", Description: "calm", Gender: "f", Files: files})
	want := fmt.Sprintf("[name  4 description  4 gender  1 audio_samples a.wav %d audio_samples b\".ogg 1048576]", len(wav))
	if err != nil || v.VoiceID != "v1" || fmt.Sprint(got) != want {
		t.Errorf("%v, %v, %v", v, err, got)
	}
	if _, err := c.CloneVoice(t.Context(), client.CloneRequest{Name: "Ines"}); !errors.Is(err, callwright.ErrBadRequest) {
		t.Errorf("no files: %v", err)
	}
	_, err = c.CloneVoice(t.Context(), client.CloneRequest{Name: "Ines", Files: []client.File{{Name: "a.wav", Content: broken{}}}})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
