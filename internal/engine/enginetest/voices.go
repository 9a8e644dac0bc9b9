package enginetest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/callwright/callwright/speech/pcm"
)

// VoiceFault is a fault of a Voices server.
type VoiceFault string

// The faults of a Voices server.
const (
	VoiceFaultClose  VoiceFault = "close"  // closes the connection with the code 1011 in the middle of a word
	VoiceFaultSilent VoiceFault = "silent" // does not reply to a piece
	VoiceFaultError  VoiceFault = "error"  // sends an error message instead of audio
	VoiceFaultBase64 VoiceFault = "base64" // sends damaged base64; binary audio is sent as VoiceFaultClose
	VoiceFaultOdd    VoiceFault = "odd"    // sends audio in parts of an odd number of bytes
	VoiceFaultLate   VoiceFault = "late"   // sends most audio of a piece after its context was canceled, and none before
	VoiceFaultMarks  VoiceFault = "marks"  // sends the places of words twice, and the second time in reverse
	VoiceFaultStatus VoiceFault = "status" // answers with the status 429
)

// Voices is a server that speaks the protocols of ElevenLabs (text-to-speech multi-stream-input), Cartesia (tts/websocket) and Deepgram
// (speak v1), as their vendors publish them. Its voices speak by Signs: a character takes 40 ms, divided by the speed.
type Voices struct {
	Key   string // the only valid API key
	Fault VoiceFault
	Times int  // number of connections with the fault; 0 means all
	TLS   bool // whether the server requires TLS

	mu          sync.Mutex
	connections int
	addresses   []*url.URL
	said        []string
	canceled    int
	open        map[*websocket.Conn]bool
}

// Serve serves the voices until the test ends.
func (v *Voices) Serve(t testing.TB) *httptest.Server {
	t.Helper()
	start := httptest.NewServer
	if v.TLS {
		start = httptest.NewTLSServer
	}
	return webSocket(t, v.check, v.session, start)
}

// check refuses requests without the key.
func (v *Voices) check(h http.Header, r *http.Request) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.addresses = append(v.addresses, r.URL)
	keys := []string{
		r.Header.Get("Xi-Api-Key"), strings.TrimPrefix(r.Header.Get("Authorization"), "Token "),
		strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.URL.Query().Get("api_key"),
	}
	switch {
	case !slices.Contains(keys, v.Key):
		return http.StatusUnauthorized
	case v.Fault == VoiceFaultStatus:
		h.Set("Retry-After", "7")
		return http.StatusTooManyRequests
	case v.newServed(r, nil) == nil:
		return http.StatusBadRequest
	}
	return 0
}

// session serves a connection.
func (v *Voices) session(r *http.Request, conn *websocket.Conn) {
	v.mu.Lock()
	s := v.newServed(r, conn)
	v.connections++
	s.number = v.connections
	if v.open == nil {
		v.open = map[*websocket.Conn]bool{}
	}
	v.open[conn] = true
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.open, conn)
	}()
	handle := map[string]func(context.Context, map[string]any) bool{
		"elevenlabs": s.elevenLabs, "cartesia": s.cartesia, "deepgram": s.deepgram,
	}[s.vendor]
	for {
		kind, data, err := conn.Read(r.Context())
		var m map[string]any
		if err != nil || kind != websocket.MessageText || json.Unmarshal(data, &m) != nil {
			return
		}
		if s.fault = v.faultOf(s.number); !handle(r.Context(), m) {
			return
		}
	}
}

// CloseIdle closes all connections with the code 1008, as services do with idle ones.
func (v *Voices) CloseIdle() {
	v.mu.Lock()
	var open []*websocket.Conn
	for c := range v.open {
		open = append(open, c)
	}
	v.mu.Unlock()
	for _, c := range open {
		_ = c.Close(websocket.StatusPolicyViolation, "idle")
	}
}

// faultOf returns the fault of a connection by its number.
func (v *Voices) faultOf(number int) VoiceFault {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.Times != 0 && number > v.Times {
		return ""
	}
	return v.Fault
}

// endFault makes the server behave on later pieces.
func (v *Voices) endFault() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.Fault, v.Times = "", -1
}

// Addresses returns the URLs of all requests.
func (v *Voices) Addresses() []*url.URL {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.addresses)
}

// Said returns the texts that were spoken, in order.
func (v *Voices) Said() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.said)
}

// Canceled returns the number of canceled contexts. ElevenLabs cancels a context by closing it, so that it counts both.
func (v *Voices) Canceled() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.canceled
}

// Connections returns the number of connections so far.
func (v *Voices) Connections() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.connections
}

// served is a connection.
type served struct {
	*Voices

	vendor   string
	conn     *websocket.Conn
	number   int // of the connection
	fault    VoiceFault
	muLaw    bool
	rate     int
	speed    float64
	contexts map[string]*spokenContext
	sequence int
}

// spokenContext is a context of a connection.
type spokenContext struct {
	text    string
	samples int // so far
	flushes int
	late    []chunk // see VoiceFaultLate
	speed   float64
}

// chunk is a part of the audio of a text.
type chunk struct {
	audio []byte
	chars []rune // the characters that it speaks
	at    int    // sample of the context
}

// newServed returns the connection of a request, or nil if the request is invalid.
func (v *Voices) newServed(r *http.Request, conn *websocket.Conn) *served {
	q := r.URL.Query()
	s := &served{Voices: v, conn: conn, rate: 8000, speed: 1, contexts: map[string]*spokenContext{}}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(path) == 4 && path[0] == "v1" && path[1] == "text-to-speech" && path[2] != "" && path[3] == "multi-stream-input":
		s.vendor = "elevenlabs"
		encoding, rate, _ := strings.Cut(q.Get("output_format"), "_")
		s.muLaw, s.rate = encoding == "ulaw", number(rate)
		if q.Get("model_id") == "" || encoding != "ulaw" && encoding != "pcm" || s.muLaw && s.rate != 8000 || s.rate == 0 {
			return nil
		}
	case r.URL.Path == "/tts/websocket":
		s.vendor = "cartesia"
		if q.Get("cartesia_version") == "" && r.Header.Get("Cartesia-Version") == "" {
			return nil
		}
	case r.URL.Path == "/v1/speak":
		s.vendor = "deepgram"
		s.muLaw, s.rate = q.Get("encoding") == "mulaw", number(q.Get("sample_rate"))
		if q.Has("speed") {
			s.speed, _ = strconv.ParseFloat(q.Get("speed"), 64)
		}
		if q.Get("model") == "" || s.rate == 0 || s.speed < 0.7 || s.speed > 1.5 {
			return nil
		}
	default:
		return nil
	}
	return s
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// send sends a JSON message.
func (s *served) send(ctx context.Context, m map[string]any) bool {
	data, err := json.Marshal(m)
	return err == nil && s.conn.Write(ctx, websocket.MessageText, data) == nil
}

// context returns the context of a message, which it begins if necessary.
func (s *served) context(id string) *spokenContext {
	if s.contexts[id] == nil {
		s.contexts[id] = &spokenContext{speed: s.speed}
	}
	return s.contexts[id]
}

// chunks returns the audio of the text of a context, in parts of two characters, and clears the text.
func (s *served) chunks(c *spokenContext) (all []chunk) {
	text := []rune(c.text)
	c.text = ""
	s.mu.Lock()
	s.said = append(s.said, string(text))
	s.mu.Unlock()
	length := int(float64(s.rate) / 25 / c.speed)
	for part := range slices.Chunk(text, 2) {
		samples := SignsOf(string(part), length)
		k := chunk{chars: part, at: c.samples, audio: pcm.AppendBytes(nil, samples)}
		if s.muLaw {
			k.audio = pcm.AppendMuLaw(nil, samples)
		}
		c.samples += len(samples)
		all = append(all, k)
	}
	if s.fault == VoiceFaultOdd && !s.muLaw {
		for i := range len(all) - 1 {
			all[i+1].audio = append([]byte{all[i].audio[len(all[i].audio)-1]}, all[i+1].audio...)
			all[i].audio = all[i].audio[:len(all[i].audio)-1]
		}
	}
	return all
}

// speak sends the text of a context. send sends a part, and refuse an error. It returns false when the connection has ended.
func (s *served) speak(c *spokenContext, send func(chunk) bool, refuse func() bool) bool {
	all := s.chunks(c)
	switch s.fault {
	case VoiceFaultSilent:
		return true
	case VoiceFaultError:
		return refuse()
	case VoiceFaultLate:
		c.late, all = all, nil
	default:
	}
	for i, k := range all {
		if i == 2 && (s.fault == VoiceFaultClose || s.fault == VoiceFaultBase64 && s.vendor == "deepgram") {
			_ = s.conn.Close(websocket.StatusInternalError, "")
			return false
		}
		if !send(k) {
			return false
		}
	}
	return true
}

// cancel counts a cancellation, and sends late audio.
func (s *served) cancel(c *spokenContext, send func(chunk) bool) {
	s.mu.Lock()
	s.canceled++
	s.mu.Unlock()
	for _, k := range c.late {
		send(k)
	}
	c.late = nil
}
