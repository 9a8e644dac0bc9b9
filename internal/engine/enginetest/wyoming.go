package enginetest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/callwright/callwright/speech/pcm"
)

// WyomingEvent is an event of the Wyoming protocol.
type WyomingEvent struct {
	Type    string
	Data    map[string]any
	Payload []byte
}

// Wyoming serves the Wyoming protocol for speech recognition until the test ends, and returns the server's URL. answer receives the request and
// the audio of an utterance at 16 kHz, and returns the bytes to send. The connection then ends, as with the server of faster-whisper.
func Wyoming(t testing.TB, answer func(request map[string]any, audio []int16) []byte) string {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var sessions sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	sessions.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, conn)
			mu.Unlock()
			sessions.Go(func() {
				defer func() { _ = conn.Close() }()
				if err := serveWyoming(conn, answer); err != nil {
					t.Logf("a client of the Wyoming server: %v", err)
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		sessions.Wait()
	})
	return "tcp://" + listener.Addr().String()
}

// serveWyoming serves one utterance.
func serveWyoming(conn io.ReadWriter, answer func(map[string]any, []int16) []byte) error {
	in := bufio.NewReader(conn)
	var request map[string]any
	var audio []int16
	for {
		e, err := readWyoming(in)
		if err != nil {
			return err
		}
		switch e.Type {
		case "transcribe":
			request = e.Data
		case "audio-start":
			audio = nil
			if fmt.Sprint(e.Data["rate"], e.Data["width"], e.Data["channels"]) != "16000 2 1" {
				return fmt.Errorf("audio in the format %v", e.Data)
			}
		case "audio-chunk":
			audio = append(audio, pcm.AppendSamples(nil, e.Payload)...)
		case "audio-stop":
			_, err := conn.Write(answer(request, audio))
			return err
		}
	}
}

// readWyoming reads an event.
func readWyoming(in *bufio.Reader) (WyomingEvent, error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return WyomingEvent{}, err
	}
	var head struct {
		Type    string         `json:"type"`
		Data    map[string]any `json:"data"`
		Length  int            `json:"data_length"`
		Payload int            `json:"payload_length"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return WyomingEvent{}, err
	}
	data, payload := make([]byte, head.Length), make([]byte, head.Payload)
	if _, err := io.ReadFull(in, data); err != nil {
		return WyomingEvent{}, err
	}
	if _, err := io.ReadFull(in, payload); err != nil {
		return WyomingEvent{}, err
	}
	e := WyomingEvent{Type: head.Type, Data: head.Data, Payload: payload}
	if head.Length > 0 {
		if err := json.Unmarshal(data, &e.Data); err != nil {
			return WyomingEvent{}, err
		}
	}
	return e, nil
}

// WyomingBytes returns an event whose data follows its line.
func WyomingBytes(kind string, data map[string]any) []byte {
	body, err := json.Marshal(data)
	if err != nil {
		panic(err) // a test passes values that JSON can represent
	}
	return fmt.Appendf(nil, "{\"type\":%q,\"version\":\"1.7.2\",\"data_length\":%d}\n%s", kind, len(body), body)
}
