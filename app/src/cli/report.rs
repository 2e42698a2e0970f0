//! The page of a comparison: one file with everything in it.

use std::path::Path;

use anyhow::{Context as _, Result};
use image::ImageEncoder as _;
use network::geometry::Extent;
use network::metrics::{Rgb8, heat_map};

use super::compare::Pair;

/// Pairs whose pictures are embedded; the others stand with their numbers only, so that the page stays loadable.
const MOST_PICTURES: usize = 24;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;background:#16181c;color:#e6e6e6}\
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2.5rem}pre{white-space:pre-wrap;color:#b9c2cc}\
.wipe{position:relative;display:inline-block;line-height:0;max-width:100%}.wipe img,.heat{max-width:100%;image-rendering:pixelated;min-width:min(100%,24rem)}\
.wipe .b{position:absolute;left:0;top:0;width:100%;clip-path:inset(0 0 0 50%)}\
.wipe .line{position:absolute;top:0;bottom:0;left:50%;width:2px;background:#ff5;pointer-events:none}\
input[type=range]{width:100%;max-width:40rem;display:block;margin:.5rem 0}.row{display:flex;gap:1rem;flex-wrap:wrap}figure{margin:0}figcaption{color:#9aa4ae}";

const SCRIPT: &str = "document.querySelectorAll('.pair').forEach(p=>{const r=p.querySelector('input'),b=p.querySelector('.b'),l=p.querySelector('.line'),w=p.querySelector('.wipe');\
const set=v=>{b.style.clipPath=`inset(0 0 0 ${v}%)`;l.style.left=v+'%';r.value=v};r.oninput=()=>set(r.value);\
w.onpointermove=e=>{const q=w.getBoundingClientRect();if(e.buttons||e.pointerType==='mouse')set(100*(e.clientX-q.left)/q.width)}});";

/// The page: for every pair a wipe between both pictures, the heat map and the numbers.
///
/// # Errors
/// A picture cannot be encoded.
pub fn html(a: &Path, b: &Path, ppd: f32, pairs: &[Pair]) -> Result<String> {
    let (a, b) = (escape(&a.display().to_string()), escape(&b.display().to_string()));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>nrview compare</title><style>{STYLE}</style></head><body>\n<h1>A: {a}<br>B: {b}</h1>\n\
         <p>A is on the left of the line, B on the right. PSNR with peak 255; SSIM with an 11x11 Gaussian window; FLIP at {ppd:.1} \
         pixels per degree, its heat map from black (0) to pale yellow (1).</p>\n"
    );
    for (i, pair) in pairs.iter().enumerate() {
        page.push_str(&format!("<h2>{}</h2>\n<pre>{}</pre>\n", escape(&pair.name), escape(&pair.line())));
        if i >= MOST_PICTURES {
            continue;
        }
        page.push_str(&format!(
            "<div class=\"pair\"><input type=\"range\" min=\"0\" max=\"100\" value=\"50\" step=\"0.1\" aria-label=\"wipe\">\
             <div class=\"row\"><figure><div class=\"wipe\"><img class=\"a\" alt=\"A\" src=\"{}\"><img class=\"b\" alt=\"B\" src=\"{}\">\
             <div class=\"line\"></div></div><figcaption>wipe</figcaption></figure>\
             <figure><img class=\"heat\" alt=\"FLIP\" src=\"{}\"><figcaption>FLIP</figcaption></figure></div></div>\n",
            data_url(&pair.a)?,
            data_url(&pair.b)?,
            data_url(&heat_map(&pair.likeness.flip))?,
        ));
    }
    page.push_str(&format!("<script>{SCRIPT}</script></body></html>\n"));
    Ok(page)
}

fn data_url(picture: &Rgb8) -> Result<String> {
    let Extent { width, height } = picture.extent();
    let mut bytes = Vec::new();
    image::codecs::png::PngEncoder::new(&mut bytes)
        .write_image(picture.bytes(), width, height, image::ExtendedColorType::Rgb8)
        .context("cannot encode a picture of the report")?;
    Ok(format!("data:image/png;base64,{}", base64(&bytes)))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i)) as usize & 63];
            out.push(if i <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_standard() {
        for (text, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(text.as_bytes()), coded);
        }
    }

    #[test]
    fn names_cannot_break_the_page() {
        assert_eq!(escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }
}
