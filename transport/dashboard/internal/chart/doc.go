// Package chart draws the pictures of the dashboard as SVG. Every picture is a struct of data with a method SVG, which is a pure
// function: the same data give the same bytes.
//
// A picture has a <title> and a <desc> that says its figures in words. Colour is never the only carrier: series differ in dashes,
// hatching and markers, states in shapes. All presentation is by class, in CSS, so pictures need neither inline styles nor scripts.
//
// All names, labels and addresses are escaped and may come from anywhere. An address that is neither relative nor HTTP is no link.
// IDs become the prefix of the picture's element ids, and must be unique in a page. Input beyond the bounds that each type names is
// thinned or left out, which the description says. NaN and infinite values are gaps; others are held within ±1e12.
//
// A picture is as wide as its container. Pictures of class "wide" have a smallest width, so that their text stays readable;
// a container of class "chart-scroll" scrolls them.
package chart

import _ "embed"

// CSS styles the pictures. It uses the variables --fg, --muted, --line, --c1 to --c6, --good, --warn, --bad and --bg of the page.
//
//go:embed chart.css
var CSS string
