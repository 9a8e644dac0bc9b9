package agentstest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// server is an HTTP server that sends scripted answers, even invalid ones. Every connection carries one request.
type server struct {
	url         string
	listener    net.Listener
	answer      func(net.Conn)
	got         chan received
	connections atomic.Int32

	mu   sync.Mutex
	open map[net.Conn]bool // nil after stop
	wait sync.WaitGroup
}

// received is a request that the server has read.
type received struct {
	line   string
	header textproto.MIMEHeader
	body   []byte
}

// serve starts a server on a loopback address. The function answer writes the server's answer to each connection. The server stops at the
// end of the test.
func serve(t *testing.T, answer func(net.Conn)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is there at once
	if err != nil {
		t.Fatal(err)
	}
	s := &server{
		url: "http://" + l.Addr().String(), listener: l, answer: answer, got: make(chan received, 64), open: map[net.Conn]bool{},
	}
	s.wait.Go(s.accept)
	t.Cleanup(s.stop)
	return s
}

func (s *server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.connections.Add(1)
		s.mu.Lock()
		if s.open == nil {
			_ = c.Close()
		} else {
			s.open[c] = true
			s.wait.Go(func() { s.serve(c) })
		}
		s.mu.Unlock()
	}
}

// serve reads one request from a connection and answers it.
func (s *server) serve(c net.Conn) {
	defer c.Close()
	r := textproto.NewReader(bufio.NewReader(c))
	line, err := r.ReadLine()
	if err != nil {
		return
	}
	header, err := r.ReadMIMEHeader()
	if err != nil {
		return
	}
	length, _ := strconv.Atoi(header.Get("Content-Length"))
	body := make([]byte, length)
	if _, err := io.ReadFull(r.R, body); err != nil {
		return
	}
	s.got <- received{line, header, body}
	s.answer(c)
}

// stop stops the server and waits for its connections. It may be called twice.
func (s *server) stop() {
	_ = s.listener.Close()
	s.mu.Lock()
	for c := range s.open {
		_ = c.Close()
	}
	s.open = nil
	s.mu.Unlock()
	s.wait.Wait()
}

// receive waits for the next request, at most requestTime.
func (s *server) receive(t *testing.T) received {
	t.Helper()
	select {
	case r := <-s.got:
		return r
	case <-time.After(requestTime):
		t.Fatal("no request came")
		return received{}
	}
}

// reply returns a function that sends an answer with the given status and body. The status may contain further header fields, separated by
// \r\n.
func reply(status, body string) func(net.Conn) {
	return func(c net.Conn) {
		fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, len(body), body)
	}
}

// pour writes the given piece repeatedly, with a pause after each write, until a write fails because the connection is closed.
func pour(c net.Conn, piece []byte, pause time.Duration) {
	for {
		if _, err := c.Write(piece); err != nil {
			return
		}
		<-time.After(pause)
	}
}
