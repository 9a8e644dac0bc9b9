// Package chart draws the pictures of the dashboard as SVG. Every picture is a struct of data with a method SVG, or Draw for a Graph. The
// method is a pure function: the same data give the same bytes.
//
// A picture contains a <title> and a <desc> that describes its values as text. Color is never the only distinction: series differ in
// dashes, hatching and markers, and states in shapes. All styles are set by class, in CSS, so that pictures need neither inline styles nor
// scripts.
//
// All names, labels and URLs may be untrusted; they are escaped. A URL that is neither relative nor HTTP does not become a link. An ID
// becomes the prefix of the ids of a picture's elements, and must be unique in a page. Input that exceeds the limits of a type is thinned,
// summed or omitted; the description mentions omitted elements. NaN and infinite values are gaps or count as 0; other values are limited to
// ±1e12.
//
// A picture is as wide as its container. Pictures of class "wide" have a minimum width, so that their text remains readable; a container of
// class "chart-scroll" scrolls them.
package chart

import _ "embed"

// CSS contains the styles of the pictures. It uses the variables --fg, --muted, --line, --c1 to --c6, --good, --warn, --bad and --bg of the
// page.
//
//go:embed chart.css
var CSS string
