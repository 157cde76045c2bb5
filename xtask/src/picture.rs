//! The pictures of the manual. Those that show behaviour are drawn from what the programs printed, which lies in
//! `book/data`; the others from what is said here.

mod canvas;
mod life;
mod model;
mod recorded;

/// Name and text of every picture.
pub(crate) fn files() -> Result<Vec<(String, String)>, String> {
    Ok(vec![
        ("objects.svg".into(), model::objects()),
        ("mechanisms.svg".into(), model::mechanisms()),
        ("context.svg".into(), life::context()),
        ("task.svg".into(), life::task()),
        ("phases.svg".into(), recorded::phases()?),
        ("sides.svg".into(), recorded::sides()?),
        ("turns.svg".into(), recorded::turns()?),
        ("card.svg".into(), recorded::card()?),
    ])
}

#[cfg(test)]
mod tests {
    #[test]
    fn pictures_stay_inside_their_frames_and_have_a_title() {
        for (name, text) in super::files().expect("pictures") {
            assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{name}");
            assert!(text.contains("<title>"), "{name}: whoever cannot see it needs a title");
            let attribute = |from: &str, key: &str| -> Option<f64> {
                from.split_once(&format!(" {key}=\""))?.1.split('"').next()?.parse().ok()
            };
            let (width, height) =
                (attribute(&text, "width").expect("a width"), attribute(&text, "height").expect("a height"));
            let mut boxes = 0;
            for rect in text.split("<rect").skip(2) {
                let (x, y) = (attribute(rect, "x").expect("x"), attribute(rect, "y").expect("y"));
                let (w, h) = (attribute(rect, "width").expect("w"), attribute(rect, "height").expect("h"));
                assert!(x >= 0.0 && y >= 0.0 && x + w <= width && y + h <= height, "{name}: {x},{y} {w}x{h}");
                boxes += 1;
            }
            assert!(boxes >= 4, "{name} shows {boxes} boxes");
        }
    }
}
