// Package letterpdf renders letters of authorization as PDFs, in memory.
//
// The same letter gives the same bytes on every machine and at any time: dates of the files are fixed, the fonts are embedded, and all
// positions are whole points, so that no rounding of a processor shows. A new version of Go or of the PDF library may write
// other bytes, so the file that a signer saw is stored, not made again.
package letterpdf
