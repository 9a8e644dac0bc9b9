package secure_test

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua/rtpmedia/internal/secure"
	"github.com/callwright/callwright/sip/sdp"
)

func newCrypto(t testing.TB) sdp.Crypto {
	t.Helper()
	key, err := sdp.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return sdp.Crypto{Tag: 1, Key: key}
}

func newSealer(t testing.TB, c sdp.Crypto) *secure.Sealer {
	t.Helper()
	s, err := secure.NewSealer(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newOpener(t testing.TB, c sdp.Crypto) *secure.Opener {
	t.Helper()
	o := &secure.Opener{}
	if err := o.Use(0, c); err != nil {
		t.Fatal(err)
	}
	return o
}

// packet returns a plain RTP packet.
func packet(ssrc uint32, sequence uint16) []byte {
	b := make([]byte, 12, 200)
	b[0] = 2 << 6
	binary.BigEndian.PutUint16(b[2:], sequence)
	binary.BigEndian.PutUint32(b[4:], uint32(sequence)*160)
	binary.BigEndian.PutUint32(b[8:], ssrc)
	return append(b, bytes.Repeat([]byte{byte(sequence)}, 160)...)
}

// report returns a plain RTCP packet: an empty receiver report.
func report(ssrc uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{2 << 6, 201, 0, 1}, ssrc)
}

func seal(t testing.TB, s *secure.Sealer, plain []byte) []byte {
	t.Helper()
	sealed, err := s.RTP(nil, plain)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestSealedPacketsOpenOnce(t *testing.T) {
	t.Parallel()
	for _, mki := range [][]byte{nil, {0, 0, 0, 1}} {
		crypto := newCrypto(t)
		crypto.MKI = mki
		sealer, opener := newSealer(t, crypto), newOpener(t, crypto)
		for sequence := range uint16(5) {
			plain := packet(7, sequence)
			sealed := seal(t, sealer, plain)
			if bytes.Contains(sealed, plain[12:]) || len(sealed) != len(plain)+10+len(mki) {
				t.Fatal("not encrypted with a tag of 80 bits")
			}
			again := bytes.Clone(sealed)
			got, err := opener.RTP(0, sealed)
			if err != nil || !bytes.Equal(got, plain) {
				t.Fatalf("packet %d: %v", sequence, err)
			}
			if _, err := opener.RTP(0, again); !errors.Is(err, secure.ErrReplayed) {
				t.Fatalf("a replayed packet: %v", err)
			}
		}
		sealed, err := sealer.RTCP(report(7))
		if err != nil {
			t.Fatal(err)
		}
		again := bytes.Clone(sealed)
		if got, err := opener.RTCP(0, sealed); err != nil || !bytes.Equal(got, report(7)) {
			t.Fatalf("RTCP: %v", err)
		}
		if _, err := opener.RTCP(0, again); !errors.Is(err, secure.ErrReplayed) {
			t.Fatalf("a replayed report: %v", err)
		}
	}
}

func TestSealInPlace(t *testing.T) {
	t.Parallel()
	crypto := newCrypto(t)
	plain := packet(7, 1)
	buffer := append(make([]byte, 0, 300), plain...)
	sealed, err := newSealer(t, crypto).RTP(buffer, buffer)
	if err != nil || &sealed[0] != &buffer[0] {
		t.Fatalf("another buffer, %v", err)
	}
	if got, err := newOpener(t, crypto).RTP(0, sealed); err != nil || !bytes.Equal(got, plain) {
		t.Fatal(err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	crypto := newCrypto(t)
	forged := seal(t, newSealer(t, newCrypto(t)), packet(7, 1))
	cut := seal(t, newSealer(t, crypto), packet(7, 1))[:150]
	version := seal(t, newSealer(t, crypto), packet(7, 1))
	version[0] = 1 << 6
	header := make([]byte, 24)
	header[0] = 2<<6 | 15 // the packet is too short for 15 contributing sources
	cases := map[string]struct {
		datagram []byte
		want     error
	}{
		"another key": {forged, secure.ErrForged},
		"cut":         {cut, secure.ErrForged},
		"version":     {version, secure.ErrMalformed},
		"header":      {header, secure.ErrMalformed},
		"short":       {cut[:21], secure.ErrMalformed},
		"empty":       {nil, secure.ErrMalformed},
	}
	for name, c := range cases {
		if _, err := newOpener(t, crypto).RTP(0, c.datagram); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := new(secure.Opener).RTP(0, forged); !errors.Is(err, secure.ErrForged) {
		t.Errorf("without a key: %v", err)
	}
	if err := new(secure.Opener).Use(0, sdp.Crypto{}); err == nil {
		t.Error("the zero key was taken")
	}
	if _, err := secure.NewSealer(sdp.Crypto{}); err == nil {
		t.Error("the zero key was taken")
	}
}

func TestChangeOfKey(t *testing.T) {
	t.Parallel()
	first, second := newCrypto(t), newCrypto(t)
	old, fresh := newSealer(t, first), newSealer(t, second)
	opener := newOpener(t, first)
	recorded := seal(t, old, packet(7, 1))
	open := func(now time.Duration, sealed []byte) error {
		_, err := opener.RTP(now, bytes.Clone(sealed))
		return err
	}
	use := func(now time.Duration, c sdp.Crypto) {
		if err := opener.Use(now, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := open(0, recorded); err != nil {
		t.Fatal(err)
	}
	const changed = 10 * time.Second
	use(changed, second)
	if err := open(changed, seal(t, fresh, packet(7, 3))); err != nil {
		t.Errorf("the new key: %v", err)
	}
	if err := open(changed+secure.Overlap-1, seal(t, old, packet(7, 2))); err != nil {
		t.Errorf("the old key during the overlap: %v", err)
	}
	if err := open(changed+secure.Overlap, seal(t, old, packet(7, 4))); !errors.Is(err, secure.ErrForged) {
		t.Errorf("the old key after the overlap: %v", err)
	}
	use(2*changed, first)
	if err := open(2*changed, recorded); !errors.Is(err, secure.ErrReplayed) {
		t.Errorf("a key that comes back has forgotten what it opened: %v", err)
	}
	if err := open(2*changed, seal(t, old, packet(7, 5))); err != nil {
		t.Errorf("a key that came back: %v", err)
	}
	use(3*changed, first)
	if err := open(3*changed, seal(t, old, packet(7, 6))); err != nil {
		t.Errorf("the same key again: %v", err)
	}
	for range 20 {
		use(4*changed, newCrypto(t))
	}
	use(4*changed, first)
	if err := open(4*changed, seal(t, old, packet(7, 7))); err != nil {
		t.Errorf("a key after many others: %v", err)
	}
}

func TestRollover(t *testing.T) {
	t.Parallel()
	crypto := newCrypto(t)
	sealer, opener := newSealer(t, crypto), newOpener(t, crypto)
	for i := range 150_000 {
		sealed := seal(t, sealer, packet(7, uint16(60_000+i)))
		if i%7 == 3 {
			continue // packet lost
		}
		if _, err := opener.RTP(0, sealed); err != nil {
			t.Fatalf("packet %d: %v", i, err)
		}
	}
}

func TestFirstPacketAfterTheRollover(t *testing.T) {
	t.Parallel()
	crypto := newCrypto(t)
	sealer, opener := newSealer(t, crypto), newOpener(t, crypto)
	for sequence := 65_530; sequence < 65_536+300; sequence++ {
		sealed := seal(t, sealer, packet(7, uint16(sequence)))
		if sequence < 65_536+5 {
			continue // sent before the call was answered
		}
		if _, err := opener.RTP(0, sealed); err != nil {
			t.Fatalf("packet %d: %v", sequence, err)
		}
	}
}

func TestSourcesOfOneKeyAreBounded(t *testing.T) {
	t.Parallel()
	crypto := newCrypto(t)
	sealer, opener := newSealer(t, crypto), newOpener(t, crypto)
	for ssrc := range uint32(64) {
		if _, err := opener.RTP(0, seal(t, sealer, packet(ssrc, 1))); err != nil {
			t.Fatalf("source %d: %v", ssrc, err)
		}
	}
	if _, err := opener.RTP(0, seal(t, sealer, packet(64, 1))); !errors.Is(err, secure.ErrForged) {
		t.Errorf("one more: %v", err)
	}
	if _, err := opener.RTP(0, seal(t, sealer, packet(3, 2))); err != nil {
		t.Errorf("a known one: %v", err)
	}
}

// TestFloodLeavesNothingBehind checks that a flood of forged packets does not fill the heap, although the library stores state for every
// SSRC that it reads.
//
//nolint:paralleltest // it measures the heap
func TestFloodLeavesNothingBehind(t *testing.T) {
	crypto := newCrypto(t)
	sealer, opener := newSealer(t, crypto), newOpener(t, crypto)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const flood = 100_000
	before, datagram := heap(), packet(0, 9)
	for i := range uint32(flood) {
		binary.BigEndian.PutUint32(datagram[8:], i)
		if _, err := opener.RTP(0, datagram); !errors.Is(err, secure.ErrForged) {
			t.Fatal(err)
		}
		binary.BigEndian.PutUint32(datagram[4:], i)
		if _, err := opener.RTCP(0, datagram); !errors.Is(err, secure.ErrForged) {
			t.Fatal(err)
		}
	}
	if after := heap(); after > before+1<<20 {
		t.Errorf("%d forged packets left %d KiB", flood, (after-before)>>10)
	}
	if _, err := opener.RTP(0, seal(t, sealer, packet(7, 1))); err != nil {
		t.Errorf("the real peer after the flood: %v", err)
	}
}

// TestForgedSequenceNumbersDoNotLockThePeerOut checks that forged packets with the SSRC of the real source do not move its replay window
// before its first packet.
func TestForgedSequenceNumbersDoNotLockThePeerOut(t *testing.T) {
	t.Parallel()
	crypto := newCrypto(t)
	sealer, opener := newSealer(t, crypto), newOpener(t, crypto)
	for sequence := range uint16(1000) {
		if _, err := opener.RTP(0, packet(7, sequence*65)); !errors.Is(err, secure.ErrForged) {
			t.Fatal(err)
		}
	}
	for sequence := range uint16(10) {
		if _, err := opener.RTP(0, seal(t, sealer, packet(7, 100+sequence))); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzOpener(f *testing.F) {
	crypto := newCrypto(f)
	crypto.MKI = []byte{1}
	sealer := newSealer(f, newCrypto(f))
	f.Add(seal(f, sealer, packet(7, 1)))
	f.Add(packet(7, 1))
	f.Add(report(7))
	f.Add([]byte{0x9f, 200, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	opener := newOpener(f, crypto)
	f.Fuzz(func(t *testing.T, datagram []byte) {
		if _, err := opener.RTP(0, bytes.Clone(datagram)); err == nil {
			t.Error("opened as RTP")
		}
		if _, err := opener.RTCP(0, bytes.Clone(datagram)); err == nil {
			t.Error("opened as RTCP")
		}
	})
}
