package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// colours of the first, second and third of what is compared; all are legible
// on white and on black.
var colours = []string{"#c2703d", "#2f7fb8", "#7a8a99"}

// page is an SVG that is being written.
type page struct{ strings.Builder }

func newPage(width, height int, title string) *page {
	p := &page{}
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="12" role="img">`+"\n",
		width, height, width, height)
	fmt.Fprintf(p, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", html.EscapeString(title))
	p.text(16, 24, "start", title, `font-size="15" font-weight="bold"`)
	return p
}

func (p *page) text(x, y float64, anchor, text, more string) {
	fmt.Fprintf(p, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="#222" %s>%s</text>`+"\n", x, y, anchor, more, html.EscapeString(text))
}

func (p *page) rect(x, y, width, height float64, fill string) {
	fmt.Fprintf(p, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, width, height, fill)
}

func (p *page) line(x1, y1, x2, y2 float64) {
	fmt.Fprintf(p, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/>`+"\n", x1, y1, x2, y2)
}

// legend names the colours.
func (p *page) legend(y float64, names []string) {
	x := 16.0
	for i, name := range names {
		p.rect(x, y-10, 12, 12, colours[i])
		p.text(x+17, y, "start", name, "")
		x += 40 + 7*float64(len(name))
	}
}

func (p *page) end() string { return p.String() + "</svg>\n" }

// bars are groups of horizontal bars, all from zero on one scale.
type bars struct {
	title  string
	names  []string // of the bars of each group
	groups []group
	format string
}

type group struct {
	name   string
	values []float64
}

func (b bars) svg() string {
	const width, left, right, thick = 720, 90, 80, 18
	perGroup := thick*len(b.names) + 14
	p := newPage(width, 70+perGroup*len(b.groups), b.title)
	p.legend(48, b.names)
	most := 0.0
	for _, g := range b.groups {
		for _, v := range g.values {
			most = max(most, v)
		}
	}
	y := 64.0
	for _, g := range b.groups {
		p.text(left-8, y+float64(thick*len(g.values))/2+4, "end", g.name, "")
		for i, v := range g.values {
			long := 0.0
			if most > 0 {
				long = max(v/most*(width-left-right), 1)
			}
			p.rect(left, y, long, thick-2, colours[i])
			p.text(left+long+6, y+thick-6, "start", label(b.format, v), "")
			y += thick
		}
		y += 14
	}
	return p.end()
}

// curves are lines over two logarithmic axes: a straight line is a power, and
// one that rises by one decade in one decade is in proportion.
type curves struct {
	title string
	x     string
	lines []curve
}

type curve struct {
	name   string
	points []point
}

type point struct{ x, y float64 }

func (c curves) svg() string {
	const width, height, left, right, top, bottom = 720, 420, 70, 24, 64, 50
	p := newPage(width, height, c.title)
	var names []string
	least, most := point{math.Inf(1), math.Inf(1)}, point{}
	for _, l := range c.lines {
		names = append(names, l.name)
		for _, q := range l.points {
			least.x, least.y = min(least.x, q.x), min(least.y, q.y)
			most.x, most.y = max(most.x, q.x), max(most.y, q.y)
		}
	}
	p.legend(48, names)
	from, to := math.Floor(math.Log10(least.y)), math.Ceil(math.Log10(most.y))
	if to == from {
		to++
	}
	span := max(math.Log10(most.x/least.x), 1e-9)
	at := func(q point) (x, y float64) {
		return left + math.Log10(q.x/least.x)/span*(width-left-right),
			height - bottom - (math.Log10(q.y)-from)/(to-from)*(height-top-bottom)
	}
	for decade := from; decade <= to; decade++ {
		_, y := at(point{least.x, math.Pow(10, decade)})
		p.line(left, y, width-right, y)
		p.text(left-8, y+4, "end", label("%g", math.Pow(10, decade)), "")
	}
	for _, q := range c.lines[0].points {
		x, _ := at(q)
		p.line(x, top, x, height-bottom)
		p.text(x, height-bottom+18, "middle", label("%.0f", q.x), "")
	}
	p.text((left+width-right)/2, height-12, "middle", c.x, "")
	for i, l := range c.lines {
		var path strings.Builder
		for n, q := range l.points {
			x, y := at(q)
			command := "L"
			if n == 0 {
				command = "M"
			}
			fmt.Fprintf(&path, "%s%.1f %.1f", command, x, y)
			fmt.Fprintf(p, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", x, y, colours[i])
			anchor, dx := "start", 6.0
			if n == len(l.points)-1 {
				anchor, dx = "end", -6
			}
			p.text(x+dx, y-7, anchor, label("%.3g", q.y), `font-size="10"`)
		}
		fmt.Fprintf(p, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", path.String(), colours[i])
	}
	return p.end()
}
