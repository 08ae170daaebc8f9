use drystone_testing::Random;

use super::*;

/// Light of one channel, column by column.
struct Plane(Vec<Vec<f64>>);

impl Plane {
    fn new([width, height]: [u32; 2], light: impl Fn([i32; 2]) -> f64) -> Self {
        let column = |x: u32| (0..height).map(|y| light([x as i32, y as i32])).collect();
        Self((0..width).map(column).collect())
    }

    /// The light of a texel; beyond a side that at the side.
    fn at(&self, [x, y]: [i32; 2]) -> f64 {
        let x = x.clamp(0, self.0.len() as i32 - 1) as usize;
        self.0[x][y.clamp(0, self.0[x].len() as i32 - 1) as usize]
    }

    /// The mean of all texels, weighted by their distance from a position in texels.
    fn between(&self, place: [f64; 2]) -> f64 {
        let (width, height) = (self.0.len() as i32, self.0[0].len() as i32);
        let near = |at: i32, place: f64| (1.0 - (f64::from(at) + 0.5 - place).abs()).max(0.0);
        let mut sum = 0.0;
        for (x, y) in (-1..=width).flat_map(|x| (-1..=height).map(move |y| (x, y))) {
            sum += near(x, place[0]) * near(y, place[1]) * self.at([x, y]);
        }
        sum
    }

    fn halved(&self, size: [u32; 2]) -> Self {
        let weight = |step: i32| if step == -1 || step == 2 { 1.0 } else { 3.0 };
        Self::new(size, |[x, y]| {
            let steps = (-1..3).flat_map(|right| (-1..3).map(move |down| (right, down)));
            let texel = |(right, down)| {
                let at = self.at([2 * x + right, 2 * y + down]);
                weight(right) * weight(down) / 64.0 * at
            };
            steps.map(texel).sum()
        })
    }

    /// The sum of this light and its glows.
    fn with_glows(self, sizes: &[[u32; 2]]) -> Self {
        let Some(&half) = sizes.first() else { return self };
        let wide = self.halved(half).with_glows(&sizes[1..]);
        let size = [self.0.len() as u32, self.0[0].len() as u32];
        let wide = |at: [i32; 2]| wide.between(at.map(|it| (f64::from(it) + 0.5) / 2.0));
        Self::new(size, |at| self.at(at) + wide(at))
    }
}

#[test]
fn bloom_is_that_of_a_simple_twin() {
    let mut random = Random::new(5);
    for picture in [[77, 50], [64, 16], [5, 3], [1, 1]] {
        let mut glows = Glows::new(picture).unwrap();
        let sizes = sizes(picture);
        let mut emitted = Image::new(sizes[0][0], sizes[0][1], [0, 0, 0, 255]);
        for pixel in emitted.rgba_mut().chunks_exact_mut(4) {
            pixel[0] = if random.below(6) == 0 { random.below(256) as u8 } else { 0 };
        }
        let light = |[x, y]: [i32; 2]| f64::from(emitted.pixel(x as u32, y as u32)[0]) / 255.0;
        let glow = Plane::new(sizes[0], light).halved(sizes[1]).with_glows(&sizes[2..]);
        let mut image = Image::new(picture[0], picture[1], [40, 30, 20, 255]);
        glows.add(&emitted, &mut image);
        for (x, y) in (0..picture[0]).flat_map(|x| (0..picture[1]).map(move |y| (x, y))) {
            let place = [0, 1].map(|axis| {
                let at = f64::from([x, y][axis]) + 0.5;
                at * f64::from(sizes[1][axis]) / f64::from(picture[axis])
            });
            let light = (glow.between(place) * f64::from(STRENGTH)).min(1.0) * 255.0;
            let want = 40.0 + light * (1.0 - 40.0 / 255.0);
            let [red, green, blue, alpha] = image.pixel(x, y);
            assert!((want - f64::from(red)).abs() < 0.51, "{picture:?} {x} {y}: {want} {red}");
            assert_eq!([green, blue, alpha], [30, 20, 255]);
        }
    }
}
