package enginetest

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
)

// fromFloats returns 16-bit samples.
func fromFloats(data []byte) (samples []int16) {
	for ; len(data) >= 4; data = data[4:] {
		samples = append(samples, int16(math.Float32frombits(binary.LittleEndian.Uint32(data))*(1<<15)))
	}
	return samples
}

// sherpa is the part that both servers of sherpa-onnx share.
type sherpa struct{}

func (sherpa) Rate() int                         { return 16000 }
func (sherpa) Accept(*http.Request, string) bool { return true }
func (sherpa) Greet() []string                   { return nil }

// SherpaOnline is the streaming server of sherpa-onnx. It recognizes one utterance in a connection.
func SherpaOnline() Dialect { return &sherpaOnline{} }

type sherpaOnline struct {
	sherpa
	over bool
}

func (s *sherpaOnline) Hear(text bool, data []byte) ([]int16, Ask) {
	switch {
	case s.over || text && string(data) != "Done" || len(data)%4 != 0:
		return nil, AskInvalid
	case text:
		s.over = true
		return nil, AskFinal
	default:
		return fromFloats(data), AskNothing
	}
}

func (*sherpaOnline) Partial(u Said) []string { return []string{sherpaResult(u, false)} }
func (*sherpaOnline) Final(u Said) []string   { return []string{sherpaResult(u, true), "Done!"} }

func sherpaResult(u Said, final bool) string {
	return fmt.Sprintf(`{"text":%q,"tokens":[],"timestamps":[],"segment":%d,"start_time":%v,"is_final":%t}`, u.Text, u.Number, u.From, final)
}

// SherpaOffline is the server of sherpa-onnx for whole utterances, whose audio may be divided into several messages.
func SherpaOffline() Dialect { return &sherpaOffline{} }

type sherpaOffline struct {
	sherpa
	lack int // bytes of the utterance that have not arrived
}

func (s *sherpaOffline) Hear(text bool, data []byte) ([]int16, Ask) {
	if text {
		if string(data) != "Done" {
			return nil, AskInvalid
		}
		return nil, AskClose
	}
	if s.lack == 0 {
		if len(data) < 8 || binary.LittleEndian.Uint32(data) != 16000 {
			return nil, AskInvalid
		}
		s.lack = int(binary.LittleEndian.Uint32(data[4:]))
		data = data[8:]
	}
	if s.lack -= len(data); s.lack < 0 {
		return nil, AskInvalid
	}
	if s.lack > 0 {
		return fromFloats(data), AskNothing
	}
	return fromFloats(data), AskFinal
}

func (*sherpaOffline) Partial(Said) []string { return nil }

func (*sherpaOffline) Final(u Said) []string {
	if u.To <= u.From {
		return nil
	}
	return []string{sherpaResult(u, true)}
}
