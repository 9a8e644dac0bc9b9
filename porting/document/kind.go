package document

import (
	"bytes"
	"encoding/binary"
)

// headSize is the number of first bytes that determine a file's type.
const headSize = 512

const typePDF = "application/pdf"

// signatures lists the types with constant first bytes.
var signatures = []struct{ first, mediaType string }{
	{"%PDF-", typePDF},
	{"\xff\xd8\xff", "image/jpeg"},
	{"\x89PNG\r\n\x1a\n", "image/png"},
	{"GIF87a", "image/gif"},
	{"GIF89a", "image/gif"},
}

// sniff returns the media type of a file with these first bytes, and whether it is accepted. Only the first bytes count, even if
// the rest is of another type.
func sniff(head []byte) (mediaType string, ok bool) {
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.first)) {
			return s.mediaType, true
		}
	}
	switch {
	case isWebP(head):
		return "image/webp", true
	case isTIFF(head):
		return "image/tiff", true
	}
	return sniffHEIF(head)
}

// isWebP reports whether a file is a RIFF container of WebP, whose first chunk is VP8, VP8L or VP8X.
func isWebP(head []byte) bool {
	return len(head) >= 16 && string(head[:4]) == "RIFF" && string(head[8:15]) == "WEBPVP8"
}

// isTIFF reports whether a file is a TIFF in either byte order: its mark, the number 42, and the offset of the first directory,
// which follows the header. BigTIFF, with the number 43, is refused: carriers do not read it.
func isTIFF(head []byte) bool {
	if len(head) < 8 {
		return false
	}
	var order binary.ByteOrder
	switch string(head[:2]) {
	case "II":
		order = binary.LittleEndian
	case "MM":
		order = binary.BigEndian
	default:
		return false
	}
	return order.Uint16(head[2:]) == 42 && order.Uint32(head[4:]) >= 8
}

// heifBrands maps the brands of HEIC and HEIF files (ISO/IEC 23008-12, section 10).
var heifBrands = map[string]string{
	"heic": "image/heic", "heix": "image/heic", "heim": "image/heic", "heis": "image/heic",
	"hevc": "image/heic-sequence", "mif1": "image/heif", "msf1": "image/heif-sequence",
}

// sniffHEIF reads the file type box that begins every ISO base media file (ISO/IEC 14496-12, section 4.3): its size, its name, the
// major brand, a version, and compatible brands. Brands mif1 and msf1 stand for any coding: with a compatible brand of AVIF the
// file is AVIF.
func sniffHEIF(head []byte) (mediaType string, ok bool) {
	if len(head) < 16 || string(head[4:8]) != "ftyp" {
		return "", false
	}
	size := binary.BigEndian.Uint32(head)
	if size < 16 || size%4 != 0 {
		return "", false
	}
	major := string(head[8:12])
	mediaType, ok = heifBrands[major]
	if !ok || major != "mif1" && major != "msf1" {
		return mediaType, ok
	}
	for brands := head[16:min(int64(size), int64(len(head)))]; len(brands) >= 4; brands = brands[4:] {
		if brand := string(brands[:4]); brand == "avif" || brand == "avis" {
			return "", false
		}
	}
	return mediaType, true
}
