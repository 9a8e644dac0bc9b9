package talk

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/callwright/callwright/speech/pcm"
)

// Raw is a JSON value that is not decoded. Unlike json.RawMessage, it is not copied: it is valid as long as the text that contains it.
type Raw []byte

// UnmarshalJSON implements json.Unmarshaler.
func (r *Raw) UnmarshalJSON(text []byte) error {
	*r = text
	return nil
}

// IsText reports whether the value is the given string, which needs no escapes.
func (r Raw) IsText(text string) bool {
	return len(r) == len(text)+2 && r[0] == '"' && string(r[1:len(r)-1]) == text
}

// ContextID returns the name of a context on the wire.
func ContextID(number int) string { return "c" + strconv.Itoa(number) }

// Context returns the number of a context by its name on the wire. It returns 0 for a missing name, and -1 for an unknown name.
func (r Raw) Context() int {
	if len(r) == 0 || string(r) == "null" {
		return 0
	}
	digits, ok := bytes.CutPrefix(r, []byte(`"c`))
	if !ok || len(digits) < 2 || len(digits) > 10 {
		return -1
	}
	number := 0
	for _, d := range digits[:len(digits)-1] {
		if d < '0' || d > '9' {
			return -1
		}
		number = 10*number + int(d-'0')
	}
	return number
}

// Decoder decodes the audio of a connection. It reuses its memory: the samples are valid until the next call.
type Decoder struct {
	MuLaw bool // G.711 mu-law; otherwise 16-bit little-endian samples

	raw     []byte
	samples []int16
	odd     []byte // first byte of an incomplete sample
	context int    // context of odd
}

// Base64 decodes a JSON string of audio of a context.
func (d *Decoder) Base64(context int, text Raw) ([]int16, error) {
	if len(text) < 2 {
		return nil, nil
	}
	encoded := []byte(text[1 : len(text)-1])
	if bytes.IndexByte(encoded, '\\') >= 0 { // some encoders escape the slash
		var plain string
		if err := json.Unmarshal(text, &plain); err != nil {
			return nil, err
		}
		encoded = []byte(plain)
	}
	need := base64.StdEncoding.DecodedLen(len(encoded))
	if cap(d.raw) < need {
		d.raw = make([]byte, need)
	}
	n, err := base64.StdEncoding.Decode(d.raw[:need], encoded)
	if err != nil {
		return nil, err
	}
	return d.Bytes(context, d.raw[:n]), nil
}

// Bytes decodes audio of a context. If a sample is incomplete, its rest is expected in the next audio of the context.
func (d *Decoder) Bytes(context int, raw []byte) []int16 {
	if d.MuLaw {
		d.samples = pcm.FromMuLaw(d.samples[:0], raw)
		return d.samples
	}
	d.samples = d.samples[:0]
	if len(d.odd) == 1 && d.context == context && len(raw) > 0 {
		d.samples = append(d.samples, int16(uint16(d.odd[0])|uint16(raw[0])<<8))
		raw = raw[1:]
	}
	even := len(raw) &^ 1
	d.samples = pcm.AppendSamples(d.samples, raw[:even])
	d.odd, d.context = append(d.odd[:0], raw[even:]...), context
	return d.samples
}

// rates lists the sample rates of 16-bit audio that all services support, in hertz.
var rates = []int{8000, 16000, 24000, 48000}

// Format returns the audio to request from a service for a stream at the given rate: mu-law for 8 kHz, and otherwise 16-bit audio at the next
// rate that services support.
func Format(rate int) (muLaw bool, hertz int) {
	for _, r := range rates {
		if rate <= r {
			return rate == rates[0], r
		}
	}
	return false, rates[len(rates)-1]
}
