package sqldb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Constants of the format of SQLite's write-ahead log, with sizes in bytes. The log consists of a header and frames, each of which contains
// a header and a page (https://sqlite.org/fileformat2.html, section 4). All stored numbers are big-endian; the log's header states the byte
// order in which checksums are computed.
const (
	walHeader   = 32
	walFrame    = 24
	walMagic    = 0x377f0682 // plus 1 if checksums use big-endian words
	minPageSize = 512
	maxPageSize = 65536
)

// wal is the state of reading a write-ahead log.
type wal struct {
	*bufio.Reader
	header [walHeader]byte
	words  binary.ByteOrder
	sum    checksum
	frame  []byte
	offset int64 // position of the next frame in bytes
}

// checksum is the cumulative checksum of a log.
type checksum [2]uint32

func (s checksum) add(p []byte, words binary.ByteOrder) checksum {
	for ; len(p) >= 8; p = p[8:] {
		s[0] += words.Uint32(p) + s[1]
		s[1] += words.Uint32(p[4:]) + s[0]
	}
	return s
}

// stored returns the checksum at the beginning of p.
func stored(p []byte) checksum {
	return checksum{binary.BigEndian.Uint32(p), binary.BigEndian.Uint32(p[4:])}
}

// damagedLog returns the offset of the first damaged frame of a log, or 0 if the header of the log is damaged. It returns -1 if no
// committed transaction is lost, or if another process restarts the log during each of five attempts to read it. SQLite reads a log up to
// the first frame with a wrong checksum, and treats the rest as a write that a crash interrupted. Such a rest is harmless unless a later
// frame of the same log commits a transaction.
func damagedLog(path string) (offset int64, err error) {
	for range 5 { // another process may be writing the log
		offset, changed, err := readLog(path)
		if !changed || err != nil {
			return offset, err
		}
	}
	return -1, nil
}

// readLog reads the log once and returns the offset of its damage, or -1. If there is damage, changed reports whether another process
// restarted the log in the meantime.
func readLog(path string) (damaged int64, changed bool, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, false, nil
	}
	if err != nil {
		return -1, false, err
	}
	defer file.Close()
	w := wal{Reader: bufio.NewReaderSize(file, 1<<20)}
	damaged = w.damaged()
	var now [walHeader]byte
	if damaged >= 0 {
		if _, err := file.ReadAt(now[:], 0); err != nil && !errors.Is(err, io.EOF) {
			return -1, false, err
		}
		changed = now != w.header
	}
	return damaged, changed, nil
}

// damaged reads the log to its end and returns the offset of its damage, or -1.
func (w *wal) damaged() (offset int64) {
	if !w.next(w.header[:]) {
		return -1 // the log contains no frame
	}
	size, ok := w.begin()
	if !ok {
		return 0
	}
	w.frame, w.offset = make([]byte, walFrame+size), walHeader
	for w.next(w.frame) {
		if !w.follows() {
			return w.committedAfter()
		}
		w.offset += int64(len(w.frame))
	}
	return -1
}

// begin checks the header, and returns the page size in bytes and whether the header is valid.
func (w *wal) begin() (pageSize int, ok bool) {
	w.words = binary.LittleEndian
	magic := binary.BigEndian.Uint32(w.header[:])
	if magic&1 == 1 {
		w.words = binary.BigEndian
	}
	size := int(binary.BigEndian.Uint32(w.header[8:]))
	w.sum = checksum{}.add(w.header[:walFrame], w.words)
	good := magic&^1 == walMagic && w.sum == stored(w.header[walFrame:])
	return size, good && size >= minPageSize && size <= maxPageSize && size&(size-1) == 0
}

// follows reports whether the frame belongs to this log and continues the previous frame. In both cases, the next call continues the
// checksum that this frame states.
func (w *wal) follows() bool {
	sum := w.sum.add(w.frame[:8], w.words).add(w.frame[walFrame:], w.words)
	w.sum = stored(w.frame[16:])
	return sum == w.sum && w.ours()
}

// ours reports whether the frame belongs to this log, by its salt. Other frames remain from an earlier log in the same file.
func (w *wal) ours() bool { return string(w.frame[8:16]) == string(w.header[16:24]) }

// committedAfter looks for a commit after the first invalid frame. If it finds one, it returns the offset of the invalid frame, and
// otherwise -1. A transaction that was rolled back may have left frames there, but no commit.
func (w *wal) committedAfter() (offset int64) {
	for w.next(w.frame) {
		if commits := binary.BigEndian.Uint32(w.frame[4:]) != 0; w.follows() && commits {
			return w.offset
		}
	}
	return -1
}

// next fills p with the next bytes of the log, and returns false if fewer are left.
func (w *wal) next(p []byte) bool {
	_, err := io.ReadFull(w, p)
	return err == nil
}

// checkLog returns an error with the remedy if the log has lost committed transactions.
func checkLog(database, log string) error {
	offset, err := damagedLog(log)
	if err != nil || offset < 0 {
		return err
	}
	return fmt.Errorf("the write-ahead log %s is damaged at byte %d, and transactions after that would be lost: restore the "+
		"database and its log from a backup; to give those transactions up, run: sqlite3 %s 'PRAGMA wal_checkpoint(TRUNCATE)'",
		log, offset, database)
}
